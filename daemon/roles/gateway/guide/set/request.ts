// Requests the acceptance of artifacts of a held set: the first of two administrators signs.
import * as z from 'zod'
import { sha384 } from '../../../../kernel/encoding/canonical-json.ts'
import { isRefusal, refuse } from '../../../../kernel/error/errors.ts'
import { operation } from '../../../../kernel/operation/operation.ts'
import { admitDecision, loadChosen } from './check-decision.ts'
import { acceptanceRequest, decisionPayload, decisionSignature } from './decision.ts'
import { loadSetForChange } from './load-set.ts'
import { guidanceSets } from './model.ts'
import { setId, setView, showSet } from './view.ts'

export const request = operation({
  summary: 'Request the acceptance of artifacts of a held set with the caller’s own signature',
  method: 'POST',
  path: '/api/v1/guide/sets/{id}/request',
  input: z.strictObject({ id: setId, signature: decisionSignature }),
  output: setView,
  errors: ['not_found', 'not_your_tenant', 'signature_invalid', 'conflict', 'wrong_state'],
  allow: 'guide:admin',

  async run(call, { id, signature }) {
    const set = await loadSetForChange(call, id)
    const admitted = await admitDecision(call, set, acceptanceRequest, signature)
    if (isRefusal(admitted)) return admitted
    const { decision, signer } = admitted
    const chosen = await loadChosen(call, set, decision.artifacts)
    if (isRefusal(chosen)) return chosen
    const digest = sha384(decisionPayload(decision))
    const { doc, answer } = await call.store(guidanceSets).update(id, ({ value }) => {
      if (value.status !== 'held') return { answer: refuse('wrong_state', `the set is ${value.status}`) }
      if (value.request?.digest === digest) return { answer: undefined }
      const { artifacts, reason } = decision
      const detail = { digest: value.digest, artifacts, reason, signature }
      const audit = [call.audited('gateway.guide.set.requested', id, detail, value.label)]
      const pending = { signature, digest, fingerprint: signer.fingerprint }
      return { next: { ...value, request: pending, update_ts: call.now() }, answer: undefined, audit }
    })
    return isRefusal(answer) ? answer : showSet(doc, call.site.name)
  },
})
