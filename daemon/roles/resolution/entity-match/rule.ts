// Applies the ruling of a consensus session, or its retraction, to the match that the session was opened for.
import * as z from 'zod'
import { isRefusal, refuse } from '../../../kernel/error/errors.ts'
import { instant, shortText, uid } from '../fields.ts'
import { matchingOperation } from '../matching.ts'
import { changeMatch } from './change-match.ts'
import { matchRuling, matchView, showMatch } from './model.ts'
import { applyRuling } from './rules.ts'

const { score, attested, evidence_block_id } = matchRuling.shape

export const rule = matchingOperation({
  summary: 'Apply the ruling of a consensus session to a match',
  method: 'POST',
  path: '/api/v2/entity_match/{correlation_id}/ruling',
  input: z.strictObject({
    correlation_id: uid,
    tenant_id: z.string().min(1).max(128).meta({ description: 'Tenant of the session' }),
    session_id: shortText,
    seq: z.int().min(1),
    event: z.enum(['ratified', 'retracted']),
    at: instant,
    decision: z.enum(['match', 'non_match']).optional(),
    score,
    attested,
    evidence_block_id,
  }),
  output: matchView,
  errors: ['not_found', 'not_your_tenant', 'forbidden', 'precondition_failed'],
  allow: 'resolution:rule',
  versioned: true,

  async run(call, { correlation_id, tenant_id, event, ...ruling }) {
    if (event === 'ratified' && ruling.decision === undefined)
      return refuse('invalid', 'a ratified ruling must have a decision')
    const detail = { session_id: ruling.session_id, event, ...(ruling.decision ? { decision: ruling.decision } : {}) }
    const done = await changeMatch(call, correlation_id, detail, (current) => {
      // The consensus service acts for every tenant: a session of one tenant must not decide a match of another.
      if (current.tenant_id !== tenant_id) return refuse('not_your_tenant', 'the match belongs to another tenant')
      if (!current.rulings.some(({ session_id }) => session_id === ruling.session_id))
        return refuse('forbidden', 'the session was not opened for this match')
      return applyRuling(current, { ...ruling, status: event })
    })
    return isRefusal(done) ? done : showMatch(done)
  },
})
