// Finds pairs that blocking missed and that clusters suggest.

import { groupRowsByCode } from '../block/blocks.ts'
import type { ComparedPairs, PairList } from '../compare/patterns.ts'
import { countClusterSizes } from './cluster-sizes.ts'

const max_cross_pairs = 4_000

/**
 * Adds missing pairs: all pairs within clusters, and between clusters that a good pair connects. Complete clusters, as
 * most clusters of two, are skipped.
 */
export function addMissingPairs(
  clusters: Int32Array,
  rows: number,
  list: Pick<PairList, 'add' | 'compared'>,
  scores: Float64Array,
): void {
  const compared = list.compared()
  const sizes = countClusterSizes(clusters)
  const isIncomplete = findIncompleteClusters(clusters, sizes, compared)
  const joined = findJoinedClusters(clusters, sizes, compared, scores)
  for (const [first, seconds] of joined) for (const second of seconds) isIncomplete[first] = isIncomplete[second] = 1
  const { from, order: members } = groupRowsByCode({ codes: clusters, sizes })
  const partners = listComparedPartners(rows, compared, (row) => isIncomplete[clusters[row]!] === 1)
  /** The last row that each row was found to be compared with. */
  const comparedWith = new Int32Array(rows).fill(-1)
  const addAll = (first: number, second: number) => {
    for (let at = from[first]!; at < from[first + 1]!; at++) {
      const a = members[at]!
      for (let index = partners.from[a]!; index < partners.from[a + 1]!; index++)
        comparedWith[partners.others[index]!] = a
      for (let to = first === second ? at + 1 : from[second]!; to < from[second + 1]!; to++) {
        const b = members[to]!
        if (comparedWith[b] !== a) list.add(Math.min(a, b), Math.max(a, b))
      }
    }
  }
  for (let cluster = 0; cluster < rows; cluster++)
    if (isIncomplete[cluster] && sizes[cluster]! > 1) addAll(cluster, cluster)
  for (const [first, seconds] of joined) for (const second of seconds) addAll(first, second)
}

/** Marks clusters with pairs that were not compared. */
function findIncompleteClusters(
  clusters: Int32Array,
  sizes: Int32Array,
  { lefts, rights, length }: ComparedPairs,
): Uint8Array {
  const compared = new Int32Array(clusters.length)
  for (let pair = 0; pair < length; pair++) {
    const cluster = clusters[lefts[pair]!]!
    if (cluster === clusters[rights[pair]!]) compared[cluster]!++
  }
  const isIncomplete = new Uint8Array(sizes.length)
  for (let cluster = 0; cluster < sizes.length; cluster++) {
    const size = sizes[cluster]!
    if (compared[cluster]! < (size * (size - 1)) / 2) isIncomplete[cluster] = 1
  }
  return isIncomplete
}

/** Finds clusters connected by a good pair: for each, the later ones, in the order of pairs. */
function findJoinedClusters(
  clusters: Int32Array,
  sizes: Int32Array,
  { lefts, rights, length }: ComparedPairs,
  scores: Float64Array,
): Map<number, Set<number>> {
  const joined = new Map<number, Set<number>>()
  for (let pair = 0; pair < length; pair++) {
    if (scores[pair]! <= 0) continue
    const left = clusters[lefts[pair]!]!
    const right = clusters[rights[pair]!]!
    if (left === right || sizes[left]! * sizes[right]! > max_cross_pairs) continue
    const [first, second] = left < right ? [left, right] : [right, left]
    const seconds = joined.get(first)
    if (seconds) seconds.add(second)
    else joined.set(first, new Set([second]))
  }
  return joined
}

/** Lists the rows that each selected row has been compared with. */
function listComparedPartners(
  rows: number,
  { lefts, rights, length }: ComparedPairs,
  isSelected: (row: number) => boolean,
): { from: Uint32Array; others: Int32Array } {
  const from = new Uint32Array(rows + 1)
  const isListed = new Uint8Array(rows)
  for (let row = 0; row < rows; row++) if (isSelected(row)) isListed[row] = 1
  for (let pair = 0; pair < length; pair++) {
    if (isListed[lefts[pair]!]) from[lefts[pair]! + 1]!++
    if (isListed[rights[pair]!]) from[rights[pair]! + 1]!++
  }
  for (let row = 0; row < rows; row++) from[row + 1]! += from[row]!
  const next = from.slice()
  const others = new Int32Array(from[rows]!)
  for (let pair = 0; pair < length; pair++) {
    const [left, right] = [lefts[pair]!, rights[pair]!]
    if (isListed[left]) others[next[left]!++] = right
    if (isListed[right]) others[next[right]!++] = left
  }
  return { from, others }
}
