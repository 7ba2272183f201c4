// Decides if a labelled object may cross between two sites: one ceiling for both directions, and releasability to the
// receiver.
import { isRefusal, type Refusal, refuse } from '../error/errors.ts'
import type { Peer } from '../identity/peer.ts'
import { isReleasableTo, isWithinCeiling, type Label, type LabelPolicy } from './label.ts'
import { translateLabel } from './label-map.ts'

/**
 * The refusal of an object that may not leave for the peer (`label_denied`); undefined when it may. Names no content.
 */
export function checkOutgoingLabel(label: Label, peer: Peer, policy: LabelPolicy): Refusal | undefined {
  if (label.policy !== policy.policy)
    return refuse('label_denied', 'the label belongs to another policy than the site’s')
  return checkCrossing(label, peer, [peer.tenant_id, ...peer.releasable_names], policy)
}

/**
 * The label of an object from the peer, in the site's own terms. `receiver`: the names of this site for
 * releasability. Refuses `label_denied` when the object may not enter.
 */
export function admitIncomingLabel(
  received: Label,
  peer: Peer,
  receiver: readonly string[],
  policy: LabelPolicy,
): Label | Refusal {
  const label = translateLabel(received, peer.label_map, policy)
  if (isRefusal(label)) return label
  return checkCrossing(label, peer, receiver, policy) ?? label
}

function checkCrossing(
  label: Label,
  peer: Peer,
  receiver: readonly string[],
  policy: LabelPolicy,
): Refusal | undefined {
  if (!isWithinCeiling(peer.ceiling, label, policy))
    return refuse('label_denied', `the label is above the ceiling of the channel with ${peer.name}`)
  return isReleasableTo(label, receiver)
    ? undefined
    : refuse('label_denied', 'the label does not release the object to the receiver')
}
