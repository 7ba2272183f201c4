// Clusters from scored pairs, as the settings of a kind of data have it.
import type { Compared } from '../compare/patterns.ts'
import type { Found, Settings } from '../resolve-clusters.ts'
import { averageLink } from './average-link.ts'

/** Where the mean cluster is smaller than this, none supports another, and each pair must speak for itself. */
export const few = 2.5
const shift_of_few = 3

type Bounds = Pick<Settings, 'lowest' | 'highest' | 'cut'>

export function clustered(
  rows: number,
  { lefts, rights }: Compared,
  scores: Float64Array,
  { lowest, highest, cut }: Bounds,
): Int32Array {
  const above = scores.map((score) => Math.min(highest, score) - lowest)
  return averageLink(rows, { lefts, rights, above }, cut - lowest)
}

/** Pairs that must speak for themselves: all scores are lower. */
export function alone(rows: number, compared: Compared, given: Float64Array, settings: Bounds): Found {
  const scores = given.map((score) => score - shift_of_few)
  return { clusters: clustered(rows, compared, scores, { ...settings, cut: 0 }), compared, scores }
}

/** Of clusters of two rows or more. */
export function meanSize(clusters: Int32Array): number {
  const sizes = new Int32Array(clusters.length)
  for (const cluster of clusters) sizes[cluster]!++
  let [all, count] = [0, 0]
  for (const size of sizes) {
    if (size < 2) continue
    all += size
    count++
  }
  return count === 0 ? 0 : all / count
}
