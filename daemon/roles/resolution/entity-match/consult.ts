// Requests a consensus session for one match with any score.
import * as z from 'zod'
import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import { uid } from '../fields.ts'
import { matchingOperation } from '../matching.ts'
import { changeMatch } from './change-match.ts'
import { consultation } from './consultation.ts'
import { entityMatches, matchView, type StoredMatch, showMatch } from './model.ts'
import { mayOpenSession } from './rules.ts'

export const consult = matchingOperation({
  summary: 'Open a consensus session to decide a match; the rulings of the match name the session',
  method: 'POST',
  path: '/api/v2/entity_match/{correlation_id}/consult',
  tool: 'entity_match_consult',
  input: z.strictObject({ correlation_id: uid, ...consultation.shape }),
  output: matchView,
  status: 202,
  errors: ['not_found', 'not_your_tenant', 'wrong_state', 'precondition_failed'],
  allow: 'resolution:review',
  versioned: true,

  async run(call, { correlation_id, ...requested }) {
    // No grant, which is recorded, for a change that will be refused.
    const before = await call.store(entityMatches).find(correlation_id)
    if (before && !isConsultable(before.value)) return refuseConsultation()
    const isCurrent = before && (call.if_match ?? before.version) === before.version
    const work = { collection: entityMatches.name, id: correlation_id }
    const principal = isCurrent ? await call.delegation().store(work) : undefined
    if (isRefusal(principal)) return principal
    const changed = await changeMatch(call, correlation_id, { invite: requested.invite }, (current) => {
      if (!isConsultable(current)) return refuseConsultation()
      // The role opens a session without a principal by its own rights.
      if (!principal) return refuse('conflict', 'the match changed meanwhile: retry')
      return { ...current, asks: 1, consult: { ...requested, principal }, updated_at: call.nowIso() }
    })
    if (isRefusal(changed)) return changed
    call.wake('consult')
    return showMatch(changed)
  },
})

function isConsultable(match: StoredMatch): boolean {
  return match.asks !== 1 && mayOpenSession(match)
}

function refuseConsultation(): Refusal {
  return refuse('wrong_state', 'a session for this match is open or has decided it, or a person has decided it')
}
