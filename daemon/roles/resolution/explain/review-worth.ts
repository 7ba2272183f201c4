// Which pairs are worth a reviewer's minute: those nearest to even odds, and of these the ones that would move most
// records.

/**
 * How open a question is, in bits: 1 at even odds, 0 where one answer is certain. Shannon's entropy of two outcomes.
 */
export function computeBinaryEntropy(probability: number): number {
  const other = 1 - probability
  if (probability <= 0 || other <= 0) return 0
  return -probability * Math.log2(probability) - other * Math.log2(other)
}

export type DecisionEffect = {
  readonly linked: boolean
  /** How many records the cluster of each of the two has; of linked ones, it is the same cluster. */
  readonly left_size: number
  readonly right_size: number
}

/**
 * Pairs of records that would be one, or no longer one, by a decision against what stands: a confirm joins two whole
 * clusters; a reject parts at least one record from all others of its cluster.
 */
export function countAffectedPairs({ linked, left_size, right_size }: DecisionEffect): number {
  return linked ? Math.max(1, left_size - 1) : left_size * right_size
}

/**
 * How much of a likeness is one nat of odds about the cut: between the pairs of which none is one and those that all
 * are, log-odds rise by one in .036 on Abt-Buy and in .048 on DBLP-ACM, found beside their truth.
 */
const likeness_per_nat = 0.04

/**
 * What a likeness so far above the cut says as a probability, so that its worth is found as that of odds is; even odds
 * at the cut.
 */
export function likenessToProbability(above_cut: number): number {
  return 1 / (1 + Math.exp(-above_cut / likeness_per_nat))
}

/** Openness weighed by the logarithm of the effect, so that a hundred pairs do not outweigh an open question. */
export function computeReviewWorth(probability: number, effect: DecisionEffect): number {
  return computeBinaryEntropy(probability) * Math.log2(1 + countAffectedPairs(effect))
}
