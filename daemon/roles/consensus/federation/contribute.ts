// Accepts a signed contribution of a federation peer, which counts as one vote of the sender's tenant.
import * as z from 'zod'
import { isRefused, type Refused, refuse } from '../../../kernel/errors.ts'
import { label } from '../../../kernel/label.ts'
import { operation } from '../../../kernel/operation.ts'
import { federationMessage, max_message_bytes, opened } from '../../../shared/federation-message.ts'
import { addContribution } from '../contribution/add.ts'
import { opinionFields } from '../contribution/model.ts'
import { federationContributionTotal } from '../metrics.ts'
import { type StoredSession, session } from '../session/model.ts'
import { shown } from '../session/view.ts'
import { provenanceOf } from './provenance.ts'

/** The data of a `contribution` message. */
const sentContribution = z.strictObject({
  session_id: z.string().min(1).max(128),
  ...opinionFields,
  classification: label,
})

export const contribute = operation({
  summary: 'Accept a signed contribution from a federation peer',
  method: 'POST',
  path: '/api/v2/federation/contribution',
  input: federationMessage,
  output: session,
  errors: [
    'not_found',
    'signature_invalid',
    'not_your_tenant',
    'not_contributor',
    'session_closed',
    'quorum_full',
    'label_denied',
    'idempotency_mismatch',
  ],
  allow: 'federation:deliver',
  max_body_bytes: max_message_bytes,

  async run(call, message) {
    const sent = await opened(call, message, 'contribution', sentContribution)
    if (isRefused(sent)) return sent
    const { src, sender_tenant_id, receiver_tenant_id, msg_id } = sent.statement
    const { session_id, ...opinion } = sent.data
    const given = {
      ...opinion,
      id: msg_id,
      contributor_id: sender_tenant_id,
      signer_key_id: sent.signer_key_id,
      submitted_by: `peer:${src}`,
      at: call.nowIso(),
      federation: provenanceOf(sent),
    }
    const added = await addContribution(
      call,
      session_id,
      (current) => mayEnter(current, src, receiver_tenant_id) ?? given,
    )
    if (isRefused(added)) return added
    if (added.isNew) call.count(federationContributionTotal, { transport: sent.transport, peer: src })
    return shown(added.doc)
  },
})

function mayEnter(current: StoredSession, peer: string, receiver_tenant_id: string): Refused | undefined {
  if (current.tenant_id !== receiver_tenant_id) {
    return refuse('not_your_tenant', 'the session belongs to another tenant than the receiver')
  }
  if (current.origin) return refuse('session_closed', 'the session lives at a peer')
  if (!current.invited.includes(peer)) return refuse('not_contributor', 'the peer was not invited to this session')
  return undefined
}
