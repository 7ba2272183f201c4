// Agrees to what a peer proposes.
import * as z from 'zod'
import { isRefusal } from '../../../kernel/error/errors.ts'
import { uid } from '../fields.ts'
import { nodeRecords } from '../fusion-run/node-data.ts'
import { max_body_bytes } from '../fusion-run/open-run.ts'
import { matchingOperation } from '../matching.ts'
import { exchanges, exchangeView, showExchange } from './model.ts'
import { acceptProposal } from './proposal/accept-proposal.ts'

export const agree = matchingOperation({
  summary: 'Agree to an exchange that a peer proposes: its warnings say what that gives away',
  method: 'POST',
  path: '/api/v2/fusion/exchange/{uid}/agree',
  input: z.strictObject({
    uid,
    data: nodeRecords.optional().meta({ description: 'What this site brings as a party; a linker brings nothing' }),
  }),
  output: exchangeView,
  errors: ['not_found', 'not_your_tenant', 'wrong_state', 'label_denied', 'over_budget', 'precondition_failed'],
  allow: 'resolution:write',
  versioned: true,
  max_body_bytes,

  async run(call, { uid: id, data }) {
    // Whose it is and which version is looked at as for a change, since one is to follow.
    const { doc } = await call.store(exchanges).update(id, () => ({ answer: undefined }))
    const done = await acceptProposal(call, doc, data, call.signal)
    return isRefusal(done) ? done : showExchange(done)
  },
})
