// What a contribution's label is within its session.
import type { Classification, Label } from '../../../../kernel/label/label.ts'

/**
 * A bare level says nothing of releasability: within a session it is releasable as the session is, and as what the same
 * contributor said before at this level was, since the session may have narrowed since, and a repeat must be one.
 */
export function labelWithinSession(
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
