// Adds an attestation to a match: the decision and the evidence of a named attester.
import * as z from 'zod'
import { isRefusal } from '../../../kernel/error/errors.ts'
import { uid } from '../fields.ts'
import { matchingOperation } from '../matching.ts'
import { settings } from '../settings.ts'
import { changeMatch } from './change-match.ts'
import { checkAttester } from './check-attester.ts'
import { matchAttestation, matchView, showMatch } from './model.ts'
import { addAssessment } from './rules.ts'

const { attester_id, decision, confidence_adjustment, evidence } = matchAttestation.shape

export const attest = matchingOperation({
  summary: 'Attest that a match is right, wrong or open, with evidence; it counts like a review',
  method: 'POST',
  path: '/api/v2/entity_match/{correlation_id}/attest',
  tool: 'entity_match_attest',
  input: z.strictObject({ correlation_id: uid, attester_id, decision, confidence_adjustment, evidence }),
  output: matchView,
  errors: [
    'not_found',
    'not_your_tenant',
    'not_contributor',
    'wrong_state',
    'idempotency_mismatch',
    'precondition_failed',
  ],
  allow: 'resolution:review',
  creates: true,
  versioned: true,

  async run(call, { correlation_id, ...input }) {
    const { attesters } = call.settings(settings)
    const assessment = { id: call.newId('att'), by: call.caller.subject, at: call.nowIso(), ...input }
    const detail = { decision: input.decision, attester_id: input.attester_id, attestation_id: assessment.id }
    // Checked in the update, after the tenant, so that strangers cannot probe which attesters are enrolled.
    const changed = await changeMatch(
      call,
      correlation_id,
      detail,
      (current) =>
        checkAttester(call.caller, input.attester_id, attesters) ??
        addAssessment(current, { list: 'attestations', assessment }),
    )
    return isRefusal(changed) ? changed : showMatch(changed)
  },
})
