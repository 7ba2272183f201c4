// The label of a message that people have released: their word counts where the message has none that can be used here.
import { entering } from '../../../../daemon/kernel/crossing.ts'
import { isRefused, type Refused } from '../../../../daemon/kernel/errors.ts'
import { type Label, releasableTo } from '../../../../daemon/kernel/label.ts'
import { type LabelMap, translated } from '../../../../daemon/kernel/label-map.ts'
import type { Place } from './checks.ts'
import { known, passesOver, type Specimen } from './specimen.ts'

/**
 * The label that a release puts in the place of the message's own. Where only the label itself is missing, a statement
 * that has one is not relabelled: the release is for the body, which does not repeat it.
 */
export function namedLabel(specimen: Specimen): Label | undefined {
  const { waiver } = specimen
  if (passesOver(specimen, 'LABEL_DENIED')) return waiver?.label
  const isMissing = (known(specimen, 'statement').label ?? undefined) === undefined
  return isMissing && passesOver(specimen, 'LABEL_MISSING') ? waiver?.label : undefined
}

/** Whether the label that the message enters under is the word of people, in part at least. */
export function isReleasedLabel(specimen: Specimen): boolean {
  return passesOver(specimen, 'LABEL_DENIED') || passesOver(specimen, 'LABEL_MISSING')
}

/** A label in the peer's terms, as the message has it. Refuses `label_denied` when it may not come in. */
export function enteringFrom(theirs: Label, specimen: Specimen, place: Place): Label | Refused {
  return judged(theirs, specimen, place, place.peer.label_map)
}

/** A label in the site's own terms, as a release names it. Refuses `label_denied` when it may not come in. */
export function enteringAs(named: Label, specimen: Specimen, place: Place): Label | Refused {
  return judged(named, specimen, place, undefined)
}

/** Of a denial only the ceiling is passed over: a label that nobody here could read is no use to anybody. */
function judged(given: Label, specimen: Specimen, place: Place, map: LabelMap | undefined): Label | Refused {
  const { tenant_id, releasable_names, label_policy } = place
  const receiver = [tenant_id, ...releasable_names]
  const { label_map: _map, ...peer } = place.peer
  const entered = entering(given, map ? place.peer : peer, receiver, label_policy)
  if (!isRefused(entered) || !passesOver(specimen, 'LABEL_DENIED')) return entered
  const ours = translated(given, map, label_policy)
  const isUsable = !isRefused(ours) && label_policy.levels.includes(ours.level) && releasableTo(ours, receiver)
  return isUsable ? ours : entered
}
