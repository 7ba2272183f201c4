// Applies the ruling of a consensus session, or its retraction, to the match that the session was opened for.
import { isRefusal, refuse } from '../../../kernel/error/errors.ts'
import { ruleOnMatch } from '../../../shared/match-session/match-session.ts'
import { matchingOperation } from '../matching.ts'
import { changeMatch } from './change-match.ts'
import { matchView, showMatch } from './model.ts'
import { applyRuling } from './rules.ts'

export const rule = matchingOperation({
  summary: 'Apply the ruling of a consensus session to a match',
  method: 'POST',
  path: '/api/v2/entity_match/{correlation_id}/ruling',
  input: ruleOnMatch.input,
  output: matchView,
  errors: ['not_found', 'not_your_tenant', 'forbidden', 'precondition_failed'],
  allow: 'resolution:rule',
  versioned: true,

  async run(call, { correlation_id, tenant_id, event, ...ruling }) {
    if (event === 'ratified' && ruling.decision === undefined)
      return refuse('invalid', 'a ratified ruling must have a decision')
    const detail = { session_id: ruling.session_id, event, ...(ruling.decision ? { decision: ruling.decision } : {}) }
    const changed = await changeMatch(call, correlation_id, detail, (current) => {
      // The consensus service acts for every tenant: a session of one tenant must not decide a match of another.
      if (current.tenant_id !== tenant_id) return refuse('not_your_tenant', 'the match belongs to another tenant')
      if (!current.rulings.some(({ session_id }) => session_id === ruling.session_id))
        return refuse('forbidden', 'the session was not opened for this match')
      return applyRuling(current, { ...ruling, status: event })
    })
    return isRefusal(changed) ? changed : showMatch(changed)
  },
})
