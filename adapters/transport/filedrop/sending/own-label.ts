// The label of messages that the carrier itself sends: the lowest level, releasable to the peer.

import type { Peer } from '../../../../daemon/kernel/identity/peer.ts'
import { type Label, lowestLabel } from '../../../../daemon/kernel/label/label.ts'
import type { FiledropContext } from '../filedrop-context.ts'

export function ownLabel(
  peer: Peer,
  { label_policy, tenant_id }: Pick<FiledropContext, 'label_policy' | 'tenant_id'>,
): Label {
  return lowestLabel(peer.tenant_id, label_policy, tenant_id)
}
