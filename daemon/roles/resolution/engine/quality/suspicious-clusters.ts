// Clusters that a person should look at first: very large ones, ones whose pairs mostly lack evidence, and chains.
import { countClusterSizes, countPairs, countPairsWithin } from '../cluster/cluster-sizes.ts'
import { createHeightReader, createLinkTest, type ScoredResult } from './heights.ts'
import { splitsAtOnePair } from './splits-at-one-pair.ts'

/**
 * `large`: at least 20 records, and ten times the median of the others. `sparse`: fewer than half of the pairs that may be compared above the cut. `chained`:
 * one pair alone holds two parts of several records together.
 */
export type ClusterDoubt = 'large' | 'sparse' | 'chained'

export type SuspiciousCluster = {
  /** The row that names the cluster. */
  readonly row: number
  readonly size: number
  readonly doubts: readonly ClusterDoubt[]
  /** Share of the pairs above the cut among those that may be compared. */
  readonly density: number
}

const min_large_size = 20
const min_large_ratio = 10
/** Smallest cluster with a shape. */
const min_shaped_size = 4
const min_density = 0.5

/** Clusters of more pairs are not searched for chains. */
const max_chain_pairs = 1_000_000

/** Finds suspicious clusters, the largest first. With `comparedSources`, only pairs of different sources may be compared. */
export function findSuspiciousClusters(result: ScoredResult, comparedSources?: Int32Array): SuspiciousCluster[] {
  const sizes = countClusterSizes(result.clusters)
  const others = sizes
    .filter((size) => size > 1)
    .sort()
    .subarray(0, -1)
  const min_size = Math.max(min_large_size, min_large_ratio * (others[(others.length - 1) >> 1] ?? 0))
  const within = countPairsWithin(result.clusters, comparedSources)
  const pairsOf = groupPairsAbove(result, sizes)
  const found: SuspiciousCluster[] = []
  for (const [row, size] of sizes.entries()) {
    if (size < min_shaped_size) continue
    const pairs = pairsOf(row)
    const density = within[row]! === 0 ? 0 : pairs.length / within[row]!
    const doubts: ClusterDoubt[] = []
    if (size >= min_size) doubts.push('large')
    if (density < min_density) doubts.push('sparse')
    if (pairs.length <= countPairs(size - 2) + 2 && isChain(result, pairs)) doubts.push('chained')
    if (doubts.length > 0) found.push({ row, size, doubts, density })
  }
  return found.sort((a, b) => b.size - a.size || a.row - b.row)
}

/** A cluster with more pairs than those of all its records but two, and two further ones, has no such pair. */
function isChain({ compared }: ScoredResult, pairs: Int32Array): boolean {
  const { lefts, rights } = compared
  return pairs.length <= max_chain_pairs && splitsAtOnePair(Array.from(pairs, (pair) => [lefts[pair]!, rights[pair]!]))
}

/** Returns a function that lists the pairs above the cut of a cluster that has a shape. */
function groupPairsAbove(result: ScoredResult, sizes: Int32Array): (row: number) => Int32Array {
  const { clusters, compared } = result
  const [heightOf, isLinked] = [createHeightReader(result), createLinkTest(result)]
  const hasShape = (pair: number) => sizes[clusters[compared.lefts[pair]!]!]! >= min_shaped_size
  const isIncluded = (pair: number) => isLinked(pair) && hasShape(pair) && heightOf(pair) > 0
  // The place in `ordered` at which the pairs of each cluster begin.
  const starts = new Int32Array(clusters.length + 1)
  for (let pair = 0; pair < compared.length; pair++)
    if (isIncluded(pair)) starts[clusters[compared.lefts[pair]!]! + 1]!++
  for (let row = 0; row < clusters.length; row++) starts[row + 1]! += starts[row]!
  const ordered = new Int32Array(starts[clusters.length]!)
  const ends = starts.slice()
  for (let pair = 0; pair < compared.length; pair++)
    if (isIncluded(pair)) ordered[ends[clusters[compared.lefts[pair]!]!]!++] = pair
  return (row) => ordered.subarray(starts[row], ends[row])
}
