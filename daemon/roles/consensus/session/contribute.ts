// Adds one local contribution to a session; the rules decide what the session becomes.
import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import { resolveClassification } from '../../../kernel/label/resolve-classification.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { findContributor } from '../contributor/enrolment.ts'
import { addContribution } from './contribution/add-contribution.ts'
import { checkEnrolment } from './contribution/check-enrolment.ts'
import { labelWithinSession } from './contribution/label-within-session.ts'
import { contributionInput } from './contribution/model.ts'
import { verifyContributor } from './contribution/proof/verify-contributor.ts'
import { idInput, type StoredSession, session, sessions } from './model.ts'
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
    'signature_invalid',
    'session_closed',
    'quorum_full',
    'label_denied',
    'idempotency_mismatch',
    'precondition_failed',
  ],
  allow: 'consensus:write',
  creates: true,
  versioned: true,

  async run(call, { id, classification, signature, parent_block_ids, ...opinion }) {
    const label = resolveClassification(call, classification)
    if (isRefusal(label)) return label
    const contributor = await findContributor(call, opinion.contributor_id)
    const checkCaller = () => checkEnrolment(call.caller, opinion.signer_key_id, contributor)
    const signed = { ...opinion, classification: label }
    const proof =
      signature &&
      ((await checkSignable(call, id, checkCaller)) ??
        (await verifyContributor(call, id, signed, signature, contributor?.spoken_for_by ?? [])))
    if (isRefusal(proof)) return proof
    const parents = [...new Set(parent_block_ids)].sort()
    const offered = {
      ...opinion,
      ...(parents.length > 0 ? { parent_block_ids: parents } : {}),
      ...{ id: call.newId('con'), submitted_by: call.caller.subject, at: call.nowIso() },
    }
    // Runs inside the update, after the tenant check: enrolment is not disclosed to other tenants.
    const added = await addContribution(
      call,
      id,
      (current, before) =>
        checkCaller() ??
        checkParents(current, parents) ?? {
          ...offered,
          classification: proof
            ? label
            : labelWithinSession(classification, label, current.label, before(opinion.contributor_id)),
        },
      { keyed_id: call.idempotency_key === undefined ? undefined : offered.id, proof },
    )
    return isRefusal(added) ? added : showSession(added.doc)
  },
})

/** The parents of a contribution are proven by the message that names them; a contribution to a session of this site has none. */
function checkParents({ origin }: StoredSession, parents: readonly string[]): Refusal | undefined {
  if (origin || parents.length === 0) return undefined
  return refuse('invalid', 'this site hosts the session: parent_block_ids are for the message to a peer that hosts one')
}

/** Refuses a signature where nobody could verify it later, or to a caller who may not contribute. */
async function checkSignable(
  call: Call,
  id: string,
  checkCaller: () => Refusal | undefined,
): Promise<Refusal | undefined> {
  const { origin } = (await call.store(sessions).get(id)).value
  if (origin) return refuse('invalid', `${origin.peer} hosts the session: the message of this site is the proof`)
  return checkCaller()
}
