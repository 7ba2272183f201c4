// Adds a person's review to a match; the latest decision of a person takes precedence over consensus and engine.
import * as z from 'zod'
import { isRefusal } from '../../../kernel/error/errors.ts'
import { uid } from '../fields.ts'
import { matchingOperation } from '../matching.ts'
import { changeMatch } from './change-match.ts'
import { matchReview, matchView, showMatch } from './model.ts'
import { addAssessment } from './rules.ts'

const { decision, reason, confidence_adjustment } = matchReview.shape

export const review = matchingOperation({
  summary: 'Confirm, reject or defer a match; the clusters change accordingly',
  method: 'POST',
  path: '/api/v2/entity_match/{correlation_id}/review',
  tool: 'entity_match_review',
  input: z.strictObject({ correlation_id: uid, decision, reason, confidence_adjustment }),
  output: matchView,
  errors: ['not_found', 'not_your_tenant', 'wrong_state', 'idempotency_mismatch', 'precondition_failed'],
  allow: 'resolution:review',
  creates: true,
  versioned: true,

  async run(call, { correlation_id, ...input }) {
    const assessment = { id: call.newId('rev'), by: call.caller.subject, at: call.nowIso(), ...input }
    const detail = { decision: input.decision, review_id: assessment.id }
    const changed = await changeMatch(call, correlation_id, detail, (current) =>
      addAssessment(current, { list: 'reviews', assessment }),
    )
    return isRefusal(changed) ? changed : showMatch(changed)
  },
})
