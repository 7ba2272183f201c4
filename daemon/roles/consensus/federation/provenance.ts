// Provenance of records that are created from a federation message.
import type { VerifiedFederationMessage } from '../../../shared/federation-message/federation-message.ts'
import type { Provenance } from '../session/contribution/model.ts'

/** The provenance to store with a record created from this message. */
export function provenanceOf({
  statement,
  transport,
}: Pick<VerifiedFederationMessage<unknown>, 'statement' | 'transport'>): Provenance {
  const { src: peer, msg_id, epoch, seq, parent_block_ids } = statement
  return { transport, peer, msg_id, epoch, seq, parent_block_ids }
}
