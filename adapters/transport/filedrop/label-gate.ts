// Labels at both ends: the same ceiling for what leaves and what enters, and releasability to whoever receives it.
import { type Label, type LabelPolicy, releasableTo, within } from '../../../daemon/kernel/label.ts'
import type { Peer } from '../../../daemon/kernel/peer.ts'

/** Why the label may not cross the channel to these receiving names; undefined when it may. Names no content. */
export function labelDenial(
  label: Label,
  peer: Peer,
  receiver: readonly string[],
  policy: LabelPolicy,
): string | undefined {
  if (label.policy !== policy.policy) return 'the label belongs to another policy'
  if (!within(peer.ceiling, label, policy)) return `the label is above the ceiling of the channel with ${peer.name}`
  if (!releasableTo(label, receiver)) return 'the label does not release it to the receiver'
  return undefined
}

export function namesOf(peer: Peer): readonly string[] {
  return [peer.tenant_id, ...peer.releasable_names]
}
