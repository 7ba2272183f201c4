// How a message came, for what is made of it.
import type { VerifiedFederationMessage } from '../../../shared/federation-message/federation-message.ts'
import type { Provenance } from '../session/contribution/model.ts'

/** How the message came, as what is made of it keeps it. */
export function provenanceOf({
  statement,
  transport,
}: Pick<VerifiedFederationMessage<unknown>, 'statement' | 'transport'>): Provenance {
  const { src: peer, msg_id, epoch, seq, parent_block_ids } = statement
  return { transport, peer, msg_id, epoch, seq, parent_block_ids }
}
