// The measure of conflict between contributors, the same for both methods: K of Dempster's rule does not measure
// disagreement.
import { type Opinion, weight } from './opinion.ts'
import { scaleFor } from './weights.ts'

/**
 * Conflict of canonically sorted opinions in [0, 1]: 4 sum(i<j) w_i w_j |s_i - s_j| / (sum w)^2, Gini's mean
 * difference scaled so that two equal groups at the extremes give 1. Without weights it is 0.
 *
 * Taken over the gaps between neighbouring scores, sum of gap x (weight below) x (weight above): linear, and a sum of
 * positive terms, so full agreement is exactly 0. Opinions without weight are skipped, because splitting a gap in two
 * would change the last bit.
 */
export function measureConflict(sorted: readonly Opinion[]): number {
  const scale = scaleFor(sorted)
  let total = 0
  for (const opinion of sorted) total += weight(opinion) * scale
  if (total === 0) return 0

  let below = 0
  let previous = 0
  let sum = 0
  for (const opinion of sorted) {
    const w = weight(opinion) * scale
    if (w === 0) continue
    if (below !== 0) sum += (opinion.pair_score - previous) * below * (total - below)
    below += w
    previous = opinion.pair_score
  }
  return Math.min(1, (4 * sum) / (total * total))
}
