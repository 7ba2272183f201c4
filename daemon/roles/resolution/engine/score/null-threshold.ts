// Derives the score threshold for links between clean sources from known non-matches: all candidates of a record except
// its own link.

/** The score of a record's link, and the best score among its other candidates; -Infinity without another candidate. */
export type AlternativeLink = { readonly link: number; readonly other: number }

const pass_count = 6
const min_weight = 0.02
/** Steps of a score in one unit. */
const score_steps = 1 << 20
/** More than the error of rounding, so that the link at the threshold exceeds it. */
const score_margin = 1 / score_steps
/** Minimum share of the known non-matches below a score, for an estimate of their proportion from it. */
const min_tail = 0.3

/** Log-odds that no threshold of log-odds exceeds: an estimate beyond them is less certain than the scores. */
export const min_threshold = -2
const max_threshold = 3

export function boundThreshold(threshold: number): number {
  return Math.max(min_threshold, limitThreshold(threshold))
}

/** Bounds a threshold from above alone: where matches are common, known non-matches may all be very low. */
export function limitThreshold(threshold: number): number {
  return Math.min(max_threshold, threshold)
}

/**
 * Finds the highest score that a link must exceed: the threshold with the highest expected F1; 0 without links.
 * Links of records without a
 * match have the distribution of the other candidates, weighted by the probability that their record has no match (a
 * local false discovery rate; Efron, "Large-Scale Simultaneous Hypothesis Testing", 2004).
 */
export function findNullThreshold(alternatives: readonly AlternativeLink[]): number {
  const rivals = alternatives.map(({ link, other }) => ({ link: roundScore(link), other: roundScore(other) }))
  const records = rivals.length
  const links = rivals.map(({ link }) => link).sort((a, b) => a - b)
  let weights = new Array<number>(records).fill(1)
  let nulls = buildDistribution(rivals, weights)
  let unmatchedShare = 1
  for (let pass = 0; pass < pass_count; pass++) {
    unmatchedShare = estimateUnmatchedShare(links, nulls)
    weights = rivals.map(({ link }) =>
      Math.max(min_weight, 1 - computeLocalFalseDiscoveryRate(link, links, nulls, unmatchedShare)),
    )
    nulls = buildDistribution(rivals, weights)
  }
  unmatchedShare = estimateUnmatchedShare(links, nulls)
  const matches = records * (1 - unmatchedShare)
  let best = { value: -1, threshold: 0 }
  for (const [at, threshold] of links.entries()) {
    const linked = records - at
    const wrong = Math.min(linked, records * unmatchedShare * (1 - computeShareBelow(nulls, threshold)))
    const right = Math.min(linked - wrong, matches)
    const value = (2 * right) / (linked + matches)
    if (value > best.value) best = { value, threshold }
  }
  return best.threshold - score_margin
}

/** Rounds, so that scores which differ by an error of rounding alone are equal: a rival of the same score is not below it. */
function roundScore(score: number): number {
  return Math.round(score * score_steps) / score_steps
}

type WeightedDistribution = { readonly values: readonly number[]; readonly sums: readonly number[] }

function buildDistribution(rivals: readonly AlternativeLink[], weights: readonly number[]): WeightedDistribution {
  const sorted = rivals.map(({ other }, at) => ({ other, weight: weights[at]! })).sort((a, b) => a.other - b.other)
  const all = sorted.reduce((sum, { weight }) => sum + weight, 0)
  let sum = 0
  return {
    values: sorted.map(({ other }) => other),
    sums: sorted.map(({ weight }) => {
      sum += weight
      return sum / all
    }),
  }
}

/** Computes the share of the weight strictly below a score. */
function computeShareBelow({ values, sums }: WeightedDistribution, score: number): number {
  const at = countBelow(values, score)
  return at === 0 ? 0 : sums[at - 1]!
}

/** Counts the ascending values below a score. */
function countBelow(values: readonly number[], score: number): number {
  let [from, to] = [0, values.length]
  while (from < to) {
    const middle = (from + to) >> 1
    if (values[middle]! < score) from = middle + 1
    else to = middle
  }
  return from
}

function estimateUnmatchedShare(links: readonly number[], nulls: WeightedDistribution): number {
  let least = 1
  for (const [at, link] of links.entries()) {
    const expected = computeShareBelow(nulls, link)
    if (expected >= min_tail) least = Math.min(least, at / links.length / expected)
  }
  return least
}

function computeLocalFalseDiscoveryRate(
  link: number,
  links: readonly number[],
  nulls: WeightedDistribution,
  unmatchedShare: number,
): number {
  const linkedShare = 1 - countBelow(links, link) / links.length
  return Math.min(1, (unmatchedShare * (1 - computeShareBelow(nulls, link))) / Math.max(linkedShare, 1e-12))
}
