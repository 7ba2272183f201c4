// Agrees to an exchange that a peer proposes.
import * as z from 'zod'
import { isRefusal } from '../../../kernel/error/errors.ts'
import { uid } from '../fields.ts'
import { inlineRecordLimits, nodeRecords } from '../fusion-run/node-data.ts'
import { matchingOperation } from '../matching.ts'
import { exchanges, exchangeView, showExchange } from './model.ts'
import { acceptProposal } from './proposal/accept-proposal.ts'

export const agree = matchingOperation({
  summary: 'Agree to an exchange that a peer proposes; its warnings list what the exchange gives away',
  method: 'POST',
  path: '/api/v2/fusion/exchange/{uid}/agree',
  input: z.strictObject({
    uid,
    data: nodeRecords.optional().meta({ description: 'The records of this site, as a party; a linker has none' }),
  }),
  output: exchangeView,
  errors: ['not_found', 'not_your_tenant', 'wrong_state', 'label_denied', 'over_budget', 'precondition_failed'],
  allow: 'resolution:write',
  versioned: true,
  ...inlineRecordLimits,

  async run(call, { uid: id, data }) {
    // An update without a change checks the tenant and the version before any record is read.
    const { doc } = await call.store(exchanges).update(id, () => ({ answer: undefined }))
    const accepted = await acceptProposal(call, doc, { data, agrees: 'caller' }, call.signal)
    return isRefusal(accepted) ? accepted : showExchange(accepted)
  },
})
