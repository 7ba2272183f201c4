// Clusters from scored pairs, as the settings of a kind of data have it.
import type { Compared } from '../compare/patterns.ts'
import type { Records } from '../records/records.ts'
import type { Found, Settings } from '../resolve-clusters.ts'
import { averageLink, type Before } from './average-link.ts'
import { areClean, linkedAcross } from './clean-sources.ts'

/** Where the mean cluster is smaller than this, none supports another, and each pair must speak for itself. */
const few = 2.5
const shift_of_few = 3

type Bounds = Pick<Settings, 'lowest' | 'highest' | 'cut'>

/** `before`: clusters of the same pairs with the same scores, but for those that are new. */
export function clustered(
  rows: number,
  { lefts, rights }: Compared,
  scores: Float64Array,
  { lowest, highest, cut }: Bounds,
  before?: Before,
): Int32Array {
  const above = scores.map((score) => Math.min(highest, score) - lowest)
  return averageLink(rows, { lefts, rights, above }, cut - lowest, before)
}

/** Two clean sources are linked at once; so is what has no third record that supports a pair: all scores are lower then. */
export function grouped(
  { names, sources, rows }: Records,
  compared: Compared,
  scores: Float64Array,
  settings: Bounds,
): Found {
  if (names.length === 2 && areClean(sources, compared, scores)) {
    const clusters = linkedAcross(sources, compared, scores, settings.cut)
    return { route: 'links', areFew: true, clusters, compared, scores }
  }
  const clusters = clustered(rows, compared, scores, settings)
  if (meanSize(clusters) >= few) return { route: 'clusters', areFew: false, clusters, compared, scores }
  const lower = scores.map((score) => score - shift_of_few)
  const alone = clustered(rows, compared, lower, { ...settings, cut: 0 })
  return { route: 'clusters', areFew: true, clusters: alone, compared, scores: lower }
}

/** Of clusters of two rows or more. */
function meanSize(clusters: Int32Array): number {
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
