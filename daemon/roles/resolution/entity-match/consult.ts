// Puts one match to a consensus session, whatever its score.
import * as z from 'zod'
import { isRefusal, refuse } from '../../../kernel/error/errors.ts'
import { uid } from '../fields.ts'
import { matchingOperation } from '../matching.ts'
import { changeMatch } from './change-match.ts'
import { consultation } from './consultation.ts'
import { matchView, showMatch } from './model.ts'
import { mayOpenSession } from './rules.ts'

export const consult = matchingOperation({
  summary: 'Have a consensus session decide a match; its rulings tell which',
  method: 'POST',
  path: '/api/v2/entity_match/{correlation_id}/consult',
  tool: 'entity_match_consult',
  input: z.strictObject({ correlation_id: uid, ...consultation.shape }),
  output: matchView,
  status: 202,
  errors: ['not_found', 'not_your_tenant', 'wrong_state', 'precondition_failed'],
  allow: 'resolution:review',
  versioned: true,

  async run(call, { correlation_id, ...asked }) {
    const done = await changeMatch(call, correlation_id, { invite: asked.invite }, (current) => {
      if (current.asks === 1 || !mayOpenSession(current))
        return refuse('wrong_state', 'a session is open or has decided, or a person has')
      return { ...current, asks: 1, consult: asked, updated_at: call.nowIso() }
    })
    if (isRefusal(done)) return done
    call.wake('consult')
    return showMatch(done)
  },
})
