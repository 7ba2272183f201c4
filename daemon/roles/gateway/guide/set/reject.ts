// Rejects a held set. One administrator may: the file can be imported again.
import * as z from 'zod'
import { isRefusal, refuse } from '../../../../kernel/error/errors.ts'
import { operation } from '../../../../kernel/operation/operation.ts'
import { requiredText } from '../../../../kernel/operation/required-text.ts'
import { guidanceSets } from './model.ts'
import { setId, setView, showSet } from './view.ts'

export const reject = operation({
  summary: 'Reject a held set of artifacts, with a reason that stays in the audit chain',
  method: 'POST',
  path: '/api/v1/guide/sets/{id}/reject',
  input: z.strictObject({ id: setId, reason: requiredText(1_000) }),
  output: setView,
  errors: ['not_found', 'not_your_tenant', 'wrong_state'],
  allow: 'guide:admin',

  async run(call, { id, reason }) {
    const { doc, answer } = await call.store(guidanceSets).update(id, ({ value }) => {
      const { status, digest, peer, request: _, ...rest } = value
      if (status !== 'held') return { answer: refuse('wrong_state', `the set is ${status}`) }
      const actor = `admin:${call.caller.subject}`
      const audit = [call.audited('gateway.guide.set.rejected', id, { peer, digest, reason }, value.label)]
      const next = {
        ...rest,
        status: 'rejected' as const,
        digest,
        peer,
        rejected: { actor, reason },
        update_ts: call.now(),
      }
      return { next, answer: undefined, audit }
    })
    return isRefusal(answer) ? answer : showSet(doc, call.site.name)
  },
})
