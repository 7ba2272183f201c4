// Ends an exchange from this site, before or after it agreed, and notifies the other sites.
import * as z from 'zod'
import { isRefusal, refuse } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { requiredText } from '../../../kernel/operation/required-text.ts'
import { uid } from '../fields.ts'
import { matchingOperation } from '../matching.ts'
import { changeExchange } from './change-exchange.ts'
import { exchangeView, isOver, showExchange } from './model.ts'
import { endEarly } from './progress/end-early.ts'

export const cancelExchange = matchingOperation({
  summary: 'Decline a proposed exchange or cancel a running one; notifies the other sites and removes its stored data',
  method: 'DELETE',
  path: '/api/v2/fusion/exchange/{uid}',
  input: z.strictObject({
    uid,
    reason: requiredText(1_024).optional().meta({ description: 'Reason that the other sites receive' }),
  }),
  output: exchangeView,
  errors: ['not_found', 'not_your_tenant', 'wrong_state', 'precondition_failed'],
  allow: 'resolution:write',
  versioned: true,

  async run(call, { uid: id, reason = 'no reason was given' }) {
    const ended = await declineOrCancel(call, id, reason)
    return isRefusal(ended) ? ended : showExchange(ended)
  },
})

/** Declines an exchange that this site has not agreed to; cancels any other. */
export function declineOrCancel(call: Call, id: string, reason: string) {
  return changeExchange(call, id, 'resolution.exchange.cancel', (current) => {
    if (isOver(current)) return refuse('wrong_state', `the exchange is already ${current.state}`)
    const state = current.state === 'proposed' && current.part !== 'proposer' ? 'declined' : 'cancelled'
    return endEarly(current, state, { code: state, reason }, { at: call.nowIso() })
  })
}
