// Ends an exchange from this site, before it has agreed or later; the other sites are told.
import * as z from 'zod'
import { isRefusal, refuse } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { uid } from '../fields.ts'
import { matchingOperation } from '../matching.ts'
import { changeExchange } from './change-exchange.ts'
import { exchangeView, isOver, showExchange } from './model.ts'
import { endEarly } from './progress/end-early.ts'

export const cancelExchange = matchingOperation({
  summary: 'Decline an exchange, or cancel one under way; the other sites are told, and what was kept for it goes',
  method: 'DELETE',
  path: '/api/v2/fusion/exchange/{uid}',
  input: z.strictObject({
    uid,
    reason: z.string().min(1).max(1_024).optional().meta({ description: 'For the other sites' }),
  }),
  output: exchangeView,
  errors: ['not_found', 'not_your_tenant', 'wrong_state', 'precondition_failed'],
  allow: 'resolution:write',
  versioned: true,

  async run(call, { uid: id, reason = 'no reason was given' }) {
    const done = await declineOrCancel(call, id, reason)
    return isRefusal(done) ? done : showExchange(done)
  },
})

/** Declined while this site has not agreed, cancelled after. */
export function declineOrCancel(call: Call, id: string, reason: string) {
  const self = call.site.name
  return changeExchange(call, id, 'resolution.exchange.cancel', (current) => {
    if (isOver(current)) return refuse('wrong_state', `the exchange is ${current.state}`)
    const state = current.state === 'proposed' && current.part !== 'proposer' ? 'declined' : 'cancelled'
    return endEarly(current, state, { code: state, reason }, { self, by: self, at: call.nowIso() })
  })
}
