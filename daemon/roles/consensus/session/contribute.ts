// Adds one local contribution to a session; the rules decide what the session becomes.
import { isRefused } from '../../../kernel/errors.ts'
import { labelFor } from '../../../kernel/labelling.ts'
import { operation } from '../../../kernel/operation.ts'
import { addContribution } from '../contribution/add.ts'
import { contributionInput } from '../contribution/model.ts'
import { maySpeak } from '../contribution/speaking.ts'
import { settings } from '../settings.ts'
import { withinSession } from './labelling.ts'
import { idInput, session } from './model.ts'
import { shown } from './view.ts'

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

  async run(call, { id, classification, ...given }) {
    const label = labelFor(call, classification)
    if (isRefused(label)) return label
    const { contributors } = call.settings(settings)
    const offered = { ...given, id: call.newId('con'), submitted_by: call.caller.subject, at: call.nowIso() }
    // Asked inside the update, after the tenant: who is enrolled is not told to strangers.
    const added = await addContribution(
      call,
      id,
      (current, before) =>
        maySpeak(call.caller, given.contributor_id, given.signer_key_id, contributors) ?? {
          ...offered,
          classification: withinSession(classification, label, current.label, before(given.contributor_id)),
        },
      call.idempotency_key === undefined ? undefined : offered.id,
    )
    return isRefused(added) ? added : shown(added.doc)
  },
})
