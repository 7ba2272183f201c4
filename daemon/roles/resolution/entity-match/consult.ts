// Requests a consensus session for one match with any score.
import * as z from 'zod'
import { isRefusal, refuse } from '../../../kernel/error/errors.ts'
import { uid } from '../fields.ts'
import { matchingOperation } from '../matching.ts'
import { changeMatch } from './change-match.ts'
import { consultation } from './consultation.ts'
import { matchView, showMatch } from './model.ts'
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
    const changed = await changeMatch(call, correlation_id, { invite: requested.invite }, (current) => {
      if (current.asks === 1 || !mayOpenSession(current))
        return refuse('wrong_state', 'a session for this match is open or has decided it, or a person has decided it')
      return { ...current, asks: 1, consult: requested, updated_at: call.nowIso() }
    })
    if (isRefusal(changed)) return changed
    call.wake('consult')
    return showMatch(changed)
  },
})
