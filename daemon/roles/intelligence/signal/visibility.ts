// In which lists a signal is: plain ones, those of what came under a silence, or those of what was merged.
import type { SignalVisibility, StoredSignal } from './model.ts'

type VisibilityBasis = Pick<StoredSignal, 'silence_id' | 'metadata' | 'merge' | 'taken_in'>

/** The same signal with its visibility, which follows from everything else in it. */
export function withVisibility<S extends VisibilityBasis>(
  current: S,
): S & { visibility: SignalVisibility; subject_visibility: SignalVisibility } {
  const own = current.silence_id !== undefined && !isTakenUp(current) ? 'silenced' : 'listed'
  const visibility = current.merge ? 'merged' : own
  return { ...current, visibility, subject_visibility: current.merge?.is_elsewhere ? own : visibility }
}

/** Somebody works on it, or has; one that stands for others keeps none of them out of sight. */
function isTakenUp({ metadata: { status_history }, taken_in = [] }: VisibilityBasis): boolean {
  return taken_in.length > 0 || status_history.some(({ to }) => to === 'acknowledged' || to === 'investigating')
}
