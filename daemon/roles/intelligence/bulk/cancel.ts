// Cancels a bulk disposition. Signals that already changed stay changed.
import { isRefusal, type Refusal } from '../../../kernel/error/errors.ts'
import { announceJob } from '../../../kernel/job/job.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { uidInput } from '../fields.ts'
import { objectPaths } from '../object-paths.ts'
import { bulk, bulks } from './model.ts'
import { cancelBulk } from './rules.ts'
import { showBulk } from './view.ts'

export const cancel = operation({
  ...objectPaths('signal-bulk', '/{uid}/cancel'),
  summary: 'Cancel a bulk disposition; signals already changed stay changed',
  method: 'POST',
  tool: 'signal_bulk_cancel',
  input: uidInput,
  output: bulk,
  errors: ['not_found', 'not_your_tenant', 'wrong_state', 'precondition_failed'],
  allow: 'intelligence:review',
  versioned: true,

  async run(call, { uid }) {
    const { doc, answer } = await call.store(bulks).update<Refusal | undefined>(uid, ({ value }) => {
      const next = cancelBulk(value, call.caller.subject, call.nowIso(), call.now())
      if (isRefusal(next)) return { answer: next }
      if (next === value) return { answer: undefined }
      return { next, answer: undefined, audit: [call.audited(call.address, uid, {}, value.label)] }
    })
    if (isRefusal(answer)) return answer
    announceJob(call, bulks, doc)
    return showBulk(doc)
  },
})
