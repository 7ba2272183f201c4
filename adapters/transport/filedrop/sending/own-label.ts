// The label of what the carrier itself says to a peer: the lowest level, releasable to the peer, and nothing more.
import { type Label, lowestLabel } from '../../../../daemon/kernel/label.ts'
import type { Peer } from '../../../../daemon/kernel/peer.ts'
import type { Surroundings } from '../surroundings.ts'

export function ownLabel(
  peer: Peer,
  { label_policy, tenant_id }: Pick<Surroundings, 'label_policy' | 'tenant_id'>,
): Label {
  return lowestLabel(peer.tenant_id, label_policy, tenant_id)
}
