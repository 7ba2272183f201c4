// Whether a labelled thing may cross between two sites: one ceiling for both ways, and releasability to whoever receives it.
import { isRefused, type Refused, refuse } from './errors.ts'
import { type Label, type LabelPolicy, releasableTo, within } from './label.ts'
import { translated } from './label-map.ts'
import type { Peer } from './peer.ts'

/** Why something with this label may not go to the peer (`label_denied`); undefined when it may. Names no content. */
export function leaving(label: Label, peer: Peer, policy: LabelPolicy): Refused | undefined {
  if (label.policy !== policy.policy) return refuse('label_denied', 'the label belongs to another policy')
  return between(label, peer, [peer.tenant_id, ...peer.releasable_names], policy)
}

/**
 * The label of something that has come from the peer, in the site's own terms. `receiver`: what this site counts as for
 * releasability. Refuses `label_denied` when it may not come in.
 */
export function entering(theirs: Label, peer: Peer, receiver: readonly string[], policy: LabelPolicy): Label | Refused {
  const label = translated(theirs, peer.label_map, policy)
  if (isRefused(label)) return label
  return between(label, peer, receiver, policy) ?? label
}

function between(label: Label, peer: Peer, receiver: readonly string[], policy: LabelPolicy): Refused | undefined {
  if (!within(peer.ceiling, label, policy))
    return refuse('label_denied', `the label is above the ceiling of the channel with ${peer.name}`)
  return releasableTo(label, receiver)
    ? undefined
    : refuse('label_denied', 'the label does not release it to the receiver')
}
