// The label of what a caller makes: of the site's policy, and never above the caller.
import type { Call } from '../../../kernel/call.ts'
import { type Refused, refuse } from '../../../kernel/errors.ts'
import { type Classification, dominates, type Label, labelOf } from '../../../kernel/label.ts'

export function labelFor(call: Call, given: Classification): Label | Refused {
  const { caller, site } = call
  const label = labelOf(given, site.labels, caller.tenant_id)
  if (!label) {
    const fault = { path: 'classification', message: 'unknown policy or level' }
    return refuse('invalid', 'the classification is not of this site’s policy', [fault])
  }
  if (dominates(caller, label, site.labels)) return label
  return refuse('label_denied', 'the classification is above the caller’s clearance')
}

/**
 * A bare level says nothing of releasability: within a session it is releasable as the session is, and as what the same
 * contributor said before at this level was, since the session may have narrowed since, and a repeat must be one.
 */
export function withinSession(
  given: Classification,
  label: Label,
  session: Label,
  before: { readonly classification: Label } | undefined,
): Label {
  if (typeof given !== 'string') return label
  const held = before?.classification
  if (held?.level === label.level && held.categories.length === 0 && held.originator === label.originator) return held
  const releasable_to = session.releasable_to ?? [session.originator]
  // The session's own object where it says just that, and never with what its first join takes away: a repeat of these
  // words must have the same label, and so the same digest, as when they were first said.
  const isSame = label.level === session.level && session.categories.length === 0
  const isJoined = session.releasable_to !== undefined && session.created === undefined
  return isSame && isJoined && session.originator === label.originator ? session : { ...label, releasable_to }
}
