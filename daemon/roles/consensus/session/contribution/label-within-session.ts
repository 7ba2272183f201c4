// Determines the label of a contribution within its session.
import type { Classification, Label } from '../../../../kernel/label/label.ts'

/**
 * A bare level has no releasability. Within a session it takes that of the session, or that of the contributor's
 * standing contribution at this level: the session may have narrowed since, and a repeat must have an equal label.
 */
export function labelWithinSession(
  input: Classification,
  label: Label,
  session: Label,
  before: { readonly classification: Label } | undefined,
): Label {
  if (typeof input !== 'string') return label
  const earlier = before?.classification
  const isSameLevel = earlier?.level === label.level && earlier.categories.length === 0
  if (earlier && isSameLevel && earlier.originator === label.originator) return earlier
  const releasable_to = session.releasable_to ?? [session.originator]
  // The session's own label object where it is equal, but not before its first join, which removes fields: a repeat must
  // have the same label, and so the same digest, as the first submission.
  const isSame = label.level === session.level && session.categories.length === 0
  const isJoined = session.releasable_to !== undefined && session.created === undefined
  return isSame && isJoined && session.originator === label.originator ? session : { ...label, releasable_to }
}
