// The score threshold for links between clean sources, from known non-matches: every candidate of a record but its own
// link.

/** The score of a record's link and the best score among its other candidates; -Infinity where it has no other. */
export type LinkRival = { readonly link: number; readonly other: number }

const pass_count = 6
const min_weight = 0.02
/** Share of the known non-matches that must lie below a score before their proportion is read from it. */
const min_tail = 0.2

/**
 * Lowest score of an accepted link: the threshold with the highest expected F1. Links of records without a match are
 * distributed as the other candidates are, weighted by the probability that their record has no match (a local false
 * discovery rate; Efron, "Large-Scale Simultaneous Hypothesis Testing", 2004).
 */
export function findNullThreshold(rivals: readonly LinkRival[]): number {
  const records = rivals.length
  const links = rivals.map(({ link }) => link).sort((a, b) => a - b)
  let weights = new Array<number>(records).fill(1)
  let nulls = buildDistribution(rivals, weights)
  let part = 1
  for (let pass = 0; pass < pass_count; pass++) {
    part = estimateUnmatchedShare(links, nulls)
    weights = rivals.map(({ link }) =>
      Math.max(min_weight, 1 - computeLocalFalseDiscoveryRate(link, links, nulls, part)),
    )
    nulls = buildDistribution(rivals, weights)
  }
  part = estimateUnmatchedShare(links, nulls)
  const matches = records * (1 - part)
  let best = { value: -1, threshold: Number.NEGATIVE_INFINITY }
  for (const [at, threshold] of links.entries()) {
    const linked = records - at
    const wrong = Math.min(linked, records * part * (1 - computeShareBelow(nulls, threshold)))
    const right = Math.min(linked - wrong, matches)
    const value = (2 * right) / (linked + matches)
    if (value > best.value) best = { value, threshold }
  }
  return best.threshold
}

type WeightedDistribution = { readonly values: readonly number[]; readonly sums: readonly number[] }

function buildDistribution(rivals: readonly LinkRival[], weights: readonly number[]): WeightedDistribution {
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

/** Share of the weight strictly below a score. */
function computeShareBelow({ values, sums }: WeightedDistribution, score: number): number {
  const at = countBelow(values, score)
  return at === 0 ? 0 : sums[at - 1]!
}

/** Number of the ascending values below a score. */
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
  part: number,
): number {
  const linkedShare = 1 - countBelow(links, link) / links.length
  return Math.min(1, (part * (1 - computeShareBelow(nulls, link))) / Math.max(linkedShare, 1e-12))
}
