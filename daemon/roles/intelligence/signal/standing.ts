// In which lists a signal is: plain ones, those of what came under a silence, or those of what was merged.
import type { Standing, StoredSignal } from './model.ts'

type Placing = Pick<StoredSignal, 'silence_id' | 'metadata' | 'merge' | 'taken_in'>

/** The same signal with its standing, which follows from everything else in it. */
export function placed<S extends Placing>(current: S): S & { standing: Standing; subject_standing: Standing } {
  const own = current.silence_id !== undefined && !isTakenUp(current) ? 'silenced' : 'listed'
  const standing = current.merge ? 'merged' : own
  return { ...current, standing, subject_standing: current.merge?.is_elsewhere ? own : standing }
}

/** Somebody works on it, or has; one that stands for others keeps none of them out of sight. */
function isTakenUp({ metadata: { status_history }, taken_in = [] }: Placing): boolean {
  return taken_in.length > 0 || status_history.some(({ to }) => to === 'acknowledged' || to === 'investigating')
}
