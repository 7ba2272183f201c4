// Derives the visibility of a signal: listed, silenced or merged.
import type { SignalVisibility, StoredSignal } from './model.ts'

type VisibilityBasis = Pick<StoredSignal, 'silence_id' | 'metadata' | 'merge' | 'taken_in'>

/** The same signal with its visibility, which derives from the other fields. */
export function withVisibility<S extends VisibilityBasis>(
  current: S,
): S & { visibility: SignalVisibility; subject_visibility: SignalVisibility } {
  const ownVisibility = current.silence_id !== undefined && !isInProgress(current) ? 'silenced' : 'listed'
  const visibility = current.merge ? 'merged' : ownVisibility
  return { ...current, visibility, subject_visibility: current.merge?.is_elsewhere ? ownVisibility : visibility }
}

/** Whether the signal has been processed, or has merged signals, which a silence must not hide. */
function isInProgress({ metadata: { status_history }, taken_in = [] }: VisibilityBasis): boolean {
  return taken_in.length > 0 || status_history.some(({ to }) => to === 'acknowledged' || to === 'investigating')
}
