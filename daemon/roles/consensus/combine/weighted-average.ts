// The weighted average: the mean of the scores, each counted by its weight.
import type { Combination } from './combination.ts'
import { measureConflict } from './conflict.ts'
import { type Opinion, weight } from './opinion.ts'
import { scaleFor, totalWeight } from './weights.ts'

/** Combines canonically sorted opinions: score = sum(w s) / sum(w); null with `no_weight` where the sum is zero. */
export function weightedAverage(sorted: readonly Opinion[]): Combination {
  const scale = scaleFor(sorted)
  let weights = 0
  let weighted = 0
  for (const opinion of sorted) {
    const w = weight(opinion) * scale
    weights += w
    weighted += w * opinion.pair_score
  }
  const measured = { conflict: measureConflict(sorted), total_weight: totalWeight(sorted) }
  if (weights === 0) return { method: 'weighted_average', score: null, ...measured, reason: 'no_weight' }
  return { method: 'weighted_average', score: weighted / weights, ...measured }
}
