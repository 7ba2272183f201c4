// Rules out subsets of opinions that cannot ratify, by closed forms: an exact decision costs a hundred times as much.
import { type DecisionPolicy, threshold_tolerance } from './decide.ts'
import { type Opinion, weight } from './opinion.ts'

/** Twice the tolerance of a decision: far above what the closed forms differ from its sums. */
const margin = 2 * threshold_tolerance
/** Below this, products of plausibilities are too small to judge by. */
const least_total = 1e-200

export type SubsetFilter = {
  /** False only if the opinions outside the mask certainly do not ratify. */
  mayRatify(removed: number): boolean
  /** Sum of the weights of the opinions in the mask, in their order. */
  weightOf(removed: number): number
}

/** `opinions`: at most 31, in canonical order. */
export function createSubsetFilter(policy: DecisionPolicy, opinions: readonly Opinion[]): SubsetFilter {
  const weights = Float64Array.from(opinions, weight)
  const scores = Float64Array.from(opinions, ({ pair_score }) => pair_score)
  const scoreOf = policy.combination_method === 'weighted_average' ? averageOf : pignisticOf
  return {
    mayRatify(removed) {
      const score = scoreOf(weights, scores, removed)
      const isBetween = score < policy.ratify_threshold - margin && score > 1 - policy.ratify_threshold + margin
      return !isBetween && !(conflictOf(weights, scores, removed) >= policy.conflict_threshold + margin)
    },
    weightOf(removed) {
      let sum = 0
      for (let at = 0; at < weights.length; at++) if ((removed >>> at) & 1) sum += weights[at] as number
      return sum
    },
  }
}

/** The mean of the scores by weight; NaN, which rules nothing out, without weight. */
function averageOf(weights: Float64Array, scores: Float64Array, removed: number): number {
  let [total, sum] = [0, 0]
  for (let at = 0; at < weights.length; at++) {
    if ((removed >>> at) & 1) continue
    total += weights[at] as number
    sum += (weights[at] as number) * (scores[at] as number)
  }
  return total < least_total ? Number.NaN : sum / total
}

/**
 * The pignistic probability of a match after Dempster's rule on two hypotheses: plausibilities and the mass of ignorance
 * multiply, so the order does not matter.
 */
function pignisticOf(weights: Float64Array, scores: Float64Array, removed: number): number {
  let [match, other, either] = [1, 1, 1]
  for (let at = 0; at < weights.length; at++) {
    if ((removed >>> at) & 1) continue
    const [w, score] = [weights[at] as number, scores[at] as number]
    match *= 1 - w * (1 - score)
    other *= 1 - w * score
    either *= 1 - w
  }
  const total = match + other - either
  return total < least_total ? Number.NaN : (match - either / 2) / total
}

/** The measure of conflict, as `measureConflict` sums it; 0 without weight. */
function conflictOf(weights: Float64Array, scores: Float64Array, removed: number): number {
  let total = 0
  for (let at = 0; at < weights.length; at++) if (!((removed >>> at) & 1)) total += weights[at] as number
  if (total < least_total) return 0
  let [below, previous, sum] = [0, 0, 0]
  for (let at = 0; at < weights.length; at++) {
    if ((removed >>> at) & 1) continue
    if (below !== 0) sum += ((scores[at] as number) - previous) * below * (total - below)
    below += weights[at] as number
    previous = scores[at] as number
  }
  return (4 * sum) / (total * total)
}
