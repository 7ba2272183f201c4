// Accepts a federation peer's signed contribution, which counts as one vote of the sender's tenant.
import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { FederationMessage } from '../../../shared/federation-message/federation-message.ts'
import { federationOperation } from '../../../shared/federation-message/federation-operation.ts'
import { federationContributionTotal } from '../metrics.ts'
import { addContribution } from '../session/contribution/add-contribution.ts'
import { contributionMessage } from '../session/contribution/model.ts'
import type { ContributionProof } from '../session/contribution/proof/model.ts'
import { type StoredSession, session } from '../session/model.ts'
import { showSession } from '../session/view.ts'
import { provenanceOf } from './provenance.ts'

export const contribute = federationOperation({
  summary: 'Accept a signed contribution from a federation peer',
  path: '/api/v2/federation/contribution',
  kind: 'contribution',
  data: contributionMessage,
  output: session,
  readObjectId: ({ session_id }) => session_id,
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

  async run(call, sent) {
    const { src, sender_tenant_id, receiver_tenant_id, msg_id } = sent.statement
    const { session_id, ...opinion } = sent.data
    const submitted = {
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
      (current) => checkSender(current, src, receiver_tenant_id) ?? submitted,
      { proof: quoteMessage(sent.message) },
    )
    if (isRefusal(added)) return added
    if (added.isNew) call.count(federationContributionTotal, { transport: sent.transport, peer: src })
    return showSession(added.doc)
  },
})

/** The message as evidence quotes it: with the body as text, which people and content filters can read. */
function quoteMessage({ envelope, body }: FederationMessage): ContributionProof {
  return { type: 'message', envelope, body: Buffer.from(body, 'base64url').toString('utf8') }
}

function checkSender(current: StoredSession, peer: string, receiver_tenant_id: string): Refusal | undefined {
  if (current.tenant_id !== receiver_tenant_id) {
    return refuse('not_your_tenant', 'the session does not belong to the tenant of the receiver')
  }
  if (current.origin) return refuse('session_closed', 'a peer hosts the session; send the contribution to that peer')
  if (!current.invited.includes(peer)) return refuse('not_contributor', 'the peer was not invited to this session')
  return undefined
}
