// The distribution of the scores of known non-matches, and the share of records without a match that it implies.

/** Minimum share of the known non-matches below a score, for an estimate of their proportion from it. */
const min_tail = 0.3

/** Ascending values, each with the share of the weight up to and including it. */
export type WeightedDistribution = { readonly values: ArrayLike<number>; readonly shares: ArrayLike<number> }

export function buildDistribution(
  items: readonly { readonly value: number; readonly weight: number }[],
): WeightedDistribution {
  const sorted = [...items].sort((a, b) => a.value - b.value)
  const all = sorted.reduce((sum, { weight }) => sum + weight, 0)
  let sum = 0
  return {
    values: sorted.map(({ value }) => value),
    shares: sorted.map(({ weight }) => {
      sum += weight
      return sum / all
    }),
  }
}

/** A distribution of values of equal weight; sorts them in place. */
export function buildEvenDistribution(values: Float64Array): WeightedDistribution {
  values.sort()
  return { values, shares: Float64Array.from(values, (_, at) => (at + 1) / values.length) }
}

/** Computes the share of the weight strictly below a score. */
export function computeShareBelow({ values, shares }: WeightedDistribution, score: number): number {
  const at = countBelow(values, score)
  return at === 0 ? 0 : shares[at - 1]!
}

/** Counts the ascending values below a score. */
export function countBelow(values: ArrayLike<number>, score: number): number {
  let [from, to] = [0, values.length]
  while (from < to) {
    const middle = (from + to) >> 1
    if (values[middle]! < score) from = middle + 1
    else to = middle
  }
  return from
}

/**
 * Estimates the share of records without a match: the largest for which no score has fewer records below it than such
 * records alone would have. `best`: ascending best scores of all records.
 */
export function estimateUnmatchedShare(best: ArrayLike<number>, nulls: WeightedDistribution): number {
  let least = 1
  for (let at = 0; at < best.length; at++) {
    const expected = computeShareBelow(nulls, best[at]!)
    if (expected >= min_tail) least = Math.min(least, at / best.length / expected)
  }
  return least
}
