// Adds one local contribution to a session; the rules decide what the session becomes.
import { isRefusal } from '../../../kernel/error/errors.ts'
import { resolveClassification } from '../../../kernel/label/resolve-classification.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { settings } from '../settings.ts'
import { addContribution } from './contribution/add-contribution.ts'
import { checkEnrolment } from './contribution/check-enrolment.ts'
import { labelWithinSession } from './contribution/label-within-session.ts'
import { contributionInput } from './contribution/model.ts'
import { idInput, session } from './model.ts'
import { showSession } from './view.ts'

export const contribute = operation({
  summary: 'Add a contribution to a session',
  method: 'POST',
  path: '/api/v2/consensus/session/{id}/contribution',
  tool: 'consensus_session_contribute',
  input: contributionInput.extend(idInput.shape),
  output: session,
  errors: [
    'not_found',
    'not_your_tenant',
    'not_contributor',
    'session_closed',
    'quorum_full',
    'label_denied',
    'idempotency_mismatch',
    'precondition_failed',
  ],
  allow: 'consensus:write',
  creates: true,
  versioned: true,

  async run(call, { id, classification, ...opinion }) {
    const label = resolveClassification(call, classification)
    if (isRefusal(label)) return label
    const { contributors } = call.settings(settings)
    const offered = { ...opinion, id: call.newId('con'), submitted_by: call.caller.subject, at: call.nowIso() }
    // Runs inside the update, after the tenant check: enrolment is not disclosed to other tenants.
    const added = await addContribution(
      call,
      id,
      (current, before) =>
        checkEnrolment(call.caller, opinion.contributor_id, opinion.signer_key_id, contributors) ?? {
          ...offered,
          classification: labelWithinSession(classification, label, current.label, before(opinion.contributor_id)),
        },
      call.idempotency_key === undefined ? undefined : offered.id,
    )
    return isRefusal(added) ? added : showSession(added.doc)
  },
})
