// The unit in which scores are shown and written: the engine computes in natural logs, people read bits.
import type { ScoreScale } from '../resolve.ts'

/** One unit of a shown score on the scale of the engine: bits (1 bit doubles the odds of a match), or a text similarity. */
export function scoreUnit(scale: ScoreScale): number {
  return scale === 'log_odds' ? Math.LN2 : 1
}
