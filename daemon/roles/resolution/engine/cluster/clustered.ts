// Clusters from scored pairs: by the method and the threshold of a lens, or as the settings of a kind of data have it.
import type { Lens } from '../../lens/model.ts'
import type { Compared } from '../compare/patterns.ts'
import { silent, type Tell } from '../progress.ts'
import type { Records } from '../records/records.ts'
import type { Found, Settings } from '../resolve-clusters.ts'
import { averageLink, type Before } from './average-link.ts'
import { areClean, linkedAcross } from './clean-sources.ts'
import { connected } from './groups.ts'

/** Where the mean cluster is smaller than this, none supports another, and each pair must speak for itself. */
const few = 2.5
const shift_of_few = 3

type Bounds = Pick<Settings, 'lowest' | 'highest' | 'cut'>

export type Grouped = Pick<Found, 'route' | 'areFew' | 'clusters' | 'scores' | 'cut' | 'floor'> & {
  /** Clusters do not support their records, so that completing them would find nothing. */
  readonly isFinal: boolean
}

/** `before`: clusters of the same pairs with the same scores, but for those that are new. */
export function clustered(
  rows: number,
  { lefts, rights }: Compared,
  scores: Float64Array,
  { lowest, highest, cut }: Bounds,
  tell: Tell,
  before?: Before,
): Int32Array {
  const above = new Float64Array(scores.length)
  for (let pair = 0; pair < above.length; pair++) above[pair] = Math.min(highest, scores[pair]!) - lowest
  return averageLink(rows, { lefts, rights, above }, cut - lowest, before, tell)
}

/** The settings about the cut that a lens gives; undefined where it leaves the cut to the data. */
export function boundsGiven(lens: Lens, settings: Settings): Settings | undefined {
  const cut = cutOf(lens)
  if (cut === undefined) return undefined
  const by = cut - settings.cut
  return { ...settings, cut, lowest: settings.lowest + by, highest: settings.highest + by }
}

/** In natural logs. Weights in bits, and methods other than the usual one, join from nought on unless the lens says more. */
function cutOf({ threshold, clustering, fields }: Lens): number | undefined {
  if (threshold !== undefined) return threshold * Math.LN2
  return fields[0]?.weights || (clustering ?? 'average_link') !== 'average_link' ? 0 : undefined
}

/** Two clean sources are linked at once; so is what has no third record that supports a pair: all scores are lower then. */
export function grouped(
  lens: Lens,
  records: Pick<Records, 'names' | 'sources' | 'rows'>,
  compared: Compared,
  scores: Float64Array,
  settings: Settings,
  tell: Tell,
): Grouped {
  const { names, sources, rows } = records
  const given = boundsGiven(lens, settings)
  const bounds = given ?? settings
  const common = { scores, cut: bounds.cut, floor: bounds.lowest }
  const isClean = lens.clustering === undefined && names.length === 2 && areClean(sources, compared, scores)
  if (isClean || (lens.clustering ?? 'average_link') !== 'average_link') {
    const clusters = byMethod(isClean ? 'one_to_one' : lens.clustering, records, compared, scores, bounds, tell)
    const route = lens.clustering === 'connected_components' ? 'clusters' : 'links'
    return { ...common, route, areFew: route === 'links', isFinal: true, clusters }
  }
  const clusters = clustered(rows, compared, scores, bounds, tell)
  const areFew = meanSize(clusters) < few
  if (!areFew || given) return { ...common, route: 'clusters', areFew, isFinal: false, clusters }
  const lower = scores.map((score) => score - shift_of_few)
  const alone = clustered(rows, compared, lower, { ...settings, cut: 0 }, tell)
  return { ...common, route: 'clusters', areFew, isFinal: true, clusters: alone, scores: lower, cut: 0 }
}

/** All at once, from a cut on. Of one source, any two records may be one to one. */
export function byMethod(
  method: Lens['clustering'],
  { sources, rows }: Pick<Records, 'sources' | 'rows'>,
  compared: Compared,
  scores: Float64Array,
  bounds: Bounds,
  tell: Tell = silent,
): Int32Array {
  if (method === 'connected_components') {
    return connected(rows, { ...compared, above: scores }, bounds.cut).lowest()
  }
  if (method === 'one_to_one') {
    const isOne = sources.every((source) => source === 0)
    const sides = isOne ? Int32Array.from(sources, (_, row) => row) : sources
    return linkedAcross(sides, compared, scores, bounds.cut)
  }
  return clustered(rows, compared, scores, bounds, tell)
}

/** Of clusters of two rows or more. */
function meanSize(clusters: Int32Array): number {
  const sizes = new Int32Array(clusters.length)
  for (let row = 0; row < clusters.length; row++) sizes[clusters[row]!]!++
  let [all, count] = [0, 0]
  for (let cluster = 0; cluster < sizes.length; cluster++) {
    const size = sizes[cluster]!
    if (size < 2) continue
    all += size
    count++
  }
  return count === 0 ? 0 : all / count
}
