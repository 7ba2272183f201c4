// Estimates the precision of links from two observations that fail on different data: how far clusters lie above the cut,
// and how often known non-matches reach it.
import { countClusterSizes, countPairsWithin } from '../cluster/cluster-sizes.ts'
import { createSeekerFilter } from '../cluster/rivals.ts'
import type { LensRecords } from '../records/records.ts'
import { logistic } from '../score/model.ts'
import {
  buildEvenDistribution,
  computeShareBelow,
  countBelow,
  estimateUnmatchedShare,
} from '../score/null-distribution.ts'
import { createHeightReader, createLinkTest, type ScoredResult } from './heights.ts'
import { meanByLogOdds } from './log-odds.ts'

/** Heights of pairs within a cluster are bounded, so that no pair decides alone; a pair that was not compared has the lowest. */
const lowest_height = -4
const highest_height = 12

/**
 * Estimates the share of linked pairs that are matches; undefined without linked pairs. With `comparedSources`, only pairs of
 * different sources may be compared.
 */
export function estimatePrecision(
  records: Pick<LensRecords, 'names' | 'sources' | 'rows'>,
  result: ScoredResult,
  comparedSources?: Int32Array,
): number | undefined {
  const cohesion = estimateByCohesion(result, comparedSources)
  if (cohesion === undefined) return undefined
  return meanByLogOdds(cohesion, estimateByNonMatches(records, result))
}

/**
 * Takes the mean height of the pairs of a cluster as log-odds; the evidence of further records grows with the square root
 * of their number, since it is not independent. Averages over linked pairs.
 */
function estimateByCohesion(result: ScoredResult, comparedSources: Int32Array | undefined): number | undefined {
  const { clusters, compared } = result
  const [heightOf, isLinked] = [createHeightReader(result), createLinkTest(result)]
  const sizes = countClusterSizes(clusters)
  const within = countPairsWithin(clusters, comparedSources)
  const sums = new Float64Array(clusters.length)
  const counts = new Float64Array(clusters.length)
  for (let pair = 0; pair < compared.length; pair++) {
    if (!isLinked(pair)) continue
    const cluster = clusters[compared.lefts[pair]!]!
    sums[cluster]! += Math.max(lowest_height, Math.min(highest_height, heightOf(pair)))
    counts[cluster]!++
  }
  let [pairs, matches] = [0, 0]
  for (const [cluster, size] of sizes.entries()) {
    const all = within[cluster]!
    // Decisions may join records of one source, which are not compared.
    if (all === 0) continue
    const mean = (sums[cluster]! + lowest_height * (all - counts[cluster]!)) / all
    pairs += all
    matches += all * logistic(mean * Math.sqrt(size - 1))
  }
  return pairs === 0 ? undefined : matches / pairs
}

/**
 * Estimates how many linked records have no match: those for which a candidate outside their cluster would reach the cut
 * as well, as often as the candidates outside the clusters of linked records do. A linked record without any pair above the
 * cut has none.
 */
function estimateByNonMatches(
  { names, sources, rows }: Pick<LensRecords, 'names' | 'sources' | 'rows'>,
  result: ScoredResult,
): number {
  const { inside, outside } = findBestHeights(rows, result)
  const seeks = createSeekerFilter(sources, names.length === 2 && result.route === 'links')
  const best = new Float64Array(rows)
  const others = new Float64Array(rows)
  let [seekers, linked, unsupported] = [0, 0, 0]
  for (let row = 0; row < rows; row++) {
    if (!seeks(row)) continue
    best[seekers++] = Math.max(inside[row]!, outside[row]!)
    if (inside[row] === Number.NEGATIVE_INFINITY) continue
    others[linked++] = outside[row]!
    if (inside[row]! <= 0) unsupported++
  }
  const bestHeights = best.subarray(0, seekers).sort()
  const nulls = buildEvenDistribution(others.subarray(0, linked))
  const supported = countAboveZero(bestHeights)
  const wrong = seekers * estimateUnmatchedShare(bestHeights, nulls) * (1 - computeShareBelow(nulls, Number.MIN_VALUE))
  const found = supported + unsupported
  // Links that people decided may be the only ones.
  return found === 0 ? 1 : 1 - (Math.min(supported, wrong) + unsupported) / found
}

function countAboveZero(ascending: Float64Array): number {
  return ascending.length - countBelow(ascending, Number.MIN_VALUE)
}

/** The greatest height of each row among the pairs of its cluster, and among all others; -Infinity without any. */
function findBestHeights(rows: number, result: ScoredResult): { inside: Float64Array; outside: Float64Array } {
  const { lefts, rights, length } = result.compared
  const [heightOf, isLinked] = [createHeightReader(result), createLinkTest(result)]
  const inside = new Float64Array(rows).fill(Number.NEGATIVE_INFINITY)
  const outside = new Float64Array(rows).fill(Number.NEGATIVE_INFINITY)
  for (let pair = 0; pair < length; pair++) {
    const [best, height] = [isLinked(pair) ? inside : outside, heightOf(pair)]
    const [left, right] = [lefts[pair]!, rights[pair]!]
    if (height > best[left]!) best[left] = height
    if (height > best[right]!) best[right] = height
  }
  return { inside, outside }
}
