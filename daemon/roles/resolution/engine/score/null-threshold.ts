// Derives the score threshold for links between clean sources from known non-matches: all candidates of a record except
// its own link.
import {
  buildDistribution,
  computeShareBelow,
  countBelow,
  estimateUnmatchedShare,
  type WeightedDistribution,
} from './null-distribution.ts'

/** The score of a record's link, and the best score among its other candidates; -Infinity without another candidate. */
export type AlternativeLink = { readonly link: number; readonly other: number }

const pass_count = 6
const min_weight = 0.02
/** Steps of a score in one unit. */
const score_steps = 1 << 20
/** More than the error of rounding, so that the link at the threshold exceeds it. */
const score_margin = 1 / score_steps

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
  let nulls = buildNulls(rivals, weights)
  let unmatchedShare = 1
  for (let pass = 0; pass < pass_count; pass++) {
    unmatchedShare = estimateUnmatchedShare(links, nulls)
    weights = rivals.map(({ link }) =>
      Math.max(min_weight, 1 - computeLocalFalseDiscoveryRate(link, links, nulls, unmatchedShare)),
    )
    nulls = buildNulls(rivals, weights)
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

function buildNulls(rivals: readonly AlternativeLink[], weights: readonly number[]): WeightedDistribution {
  return buildDistribution(rivals.map(({ other }, at) => ({ value: other, weight: weights[at]! })))
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
