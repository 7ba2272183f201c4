// The label of a released message: the label from the release applies where the message has no usable one.

import { isRefusal, type Refusal } from '../../../../daemon/kernel/error/errors.ts'
import { admitIncomingLabel } from '../../../../daemon/kernel/label/crossing.ts'
import { isReleasableTo, type Label } from '../../../../daemon/kernel/label/label.ts'
import { type LabelMap, translateLabel } from '../../../../daemon/kernel/label/label-map.ts'
import type { MessageDestination } from './message-checks.ts'
import { isWaived, type MessageExamination, requireEstablished } from './message-examination.ts'

/**
 * The label of the release, if it replaces the label of the message. A release for a missing label does not replace the
 * label of a statement that has one: the release is then for the body, which does not repeat it.
 */
export function releasedLabel(examination: MessageExamination): Label | undefined {
  const { waiver } = examination
  if (isWaived(examination, 'LABEL_DENIED')) return waiver?.label
  const isMissing = (requireEstablished(examination, 'statement').label ?? undefined) === undefined
  return isMissing && isWaived(examination, 'LABEL_MISSING') ? waiver?.label : undefined
}

/** Whether a release by people decides the label of the message, at least in part. */
export function hasReleasedLabel(examination: MessageExamination): boolean {
  return isWaived(examination, 'LABEL_DENIED') || isWaived(examination, 'LABEL_MISSING')
}

/** A label in the peer's terms, as the message has it. Refuses `label_denied` when it may not come in. */
export function admitPeerLabel(
  theirs: Label,
  examination: MessageExamination,
  destination: MessageDestination,
): Label | Refusal {
  return admitLabel(theirs, examination, destination, destination.peer.label_map)
}

/** A label in the site's own terms, as a release names it. Refuses `label_denied` when it may not come in. */
export function admitReleasedLabel(
  named: Label,
  examination: MessageExamination,
  destination: MessageDestination,
): Label | Refusal {
  return admitLabel(named, examination, destination, undefined)
}

/** A release of a denied label waives only the ceiling: nobody at this site is cleared for an unreadable label. */
function admitLabel(
  original: Label,
  examination: MessageExamination,
  destination: MessageDestination,
  map: LabelMap | undefined,
): Label | Refusal {
  const { tenant_id, releasable_names, label_policy } = destination
  const receiver = [tenant_id, ...releasable_names]
  const { label_map: _map, ...peer } = destination.peer
  const entered = admitIncomingLabel(original, map ? destination.peer : peer, receiver, label_policy)
  if (!isRefusal(entered) || !isWaived(examination, 'LABEL_DENIED')) return entered
  const ours = translateLabel(original, map, label_policy)
  const isUsable = !isRefusal(ours) && label_policy.levels.includes(ours.level) && isReleasableTo(ours, receiver)
  return isUsable ? ours : entered
}
