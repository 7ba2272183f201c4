// Clusters scored pairs by the method and the threshold of a lens, or by the settings for the kind of data.
import type { Lens } from '../../lens/model.ts'
import type { ComparedPairs } from '../compare/patterns.ts'
import { type EngineProgressListener, ignoreProgress } from '../progress.ts'
import type { LensRecords } from '../records/records.ts'
import type { ClusteringSettings, ClusterResult } from '../resolve-clusters.ts'
import { clusterByAverageLink, type PreviousClusters } from './average-link.ts'
import { areSourcesClean, linkAcrossSources } from './clean-sources.ts'
import { countClusterSizes } from './cluster-sizes.ts'
import { connectRows } from './disjoint-sets.ts'

/** Below this mean size, clusters do not support their pairs, and each pair needs enough evidence alone. */
const few_mean_size = 2.5
const few_score_shift = 3

type ScoreBounds = Pick<ClusteringSettings, 'lowest' | 'highest' | 'cut'>

export type GroupingResult = Pick<ClusterResult, 'route' | 'areFew' | 'clusters' | 'scores' | 'cut' | 'floor'> & {
  /** Completing the clusters would find nothing, because they do not support their records. */
  readonly isFinal: boolean
}

/** `before`: clusters of the same pairs and scores, without the new pairs. */
export function clusterScoredPairs(
  rows: number,
  { lefts, rights }: ComparedPairs,
  scores: Float64Array,
  { lowest, highest, cut }: ScoreBounds,
  report: EngineProgressListener,
  before?: PreviousClusters,
): Int32Array {
  const above = new Float64Array(scores.length)
  for (let pair = 0; pair < above.length; pair++) above[pair] = Math.min(highest, scores[pair]!) - lowest
  return clusterByAverageLink(rows, { lefts, rights, above }, cut - lowest, before, report)
}

/** The settings with the cut of the lens; undefined where the lens leaves the cut to the data. */
export function applyLensCut(lens: Lens, settings: ClusteringSettings): ClusteringSettings | undefined {
  const cut = readLensCut(lens)
  if (cut === undefined) return undefined
  const by = cut - settings.cut
  return { ...settings, cut, lowest: settings.lowest + by, highest: settings.highest + by }
}

/** In natural logs. With fixed weights, or a method other than average link, the cut is 0 unless the lens sets it. */
function readLensCut({ threshold, clustering, fields }: Lens): number | undefined {
  if (threshold !== undefined) return threshold * Math.LN2
  return fields[0]?.weights || (clustering ?? 'average_link') !== 'average_link' ? 0 : undefined
}

/**
 * Links two clean sources at once. Where clusters are pairs without a third record to support them, clusters again with
 * lower scores.
 */
export function groupRecords(
  lens: Lens,
  records: Pick<LensRecords, 'names' | 'sources' | 'rows'>,
  compared: ComparedPairs,
  scores: Float64Array,
  settings: ClusteringSettings,
  report: EngineProgressListener,
): GroupingResult {
  const { names, sources, rows } = records
  const given = applyLensCut(lens, settings)
  const bounds = given ?? settings
  const common = { scores, cut: bounds.cut, floor: bounds.lowest }
  const isClean = lens.clustering === undefined && names.length === 2 && areSourcesClean(sources, compared, scores)
  if (isClean || (lens.clustering ?? 'average_link') !== 'average_link') {
    const clusters = clusterByMethod(
      isClean ? 'one_to_one' : lens.clustering,
      records,
      compared,
      scores,
      bounds,
      report,
    )
    const route = lens.clustering === 'connected_components' ? 'clusters' : 'links'
    return { ...common, route, areFew: route === 'links', isFinal: true, clusters }
  }
  const clusters = clusterScoredPairs(rows, compared, scores, bounds, report)
  const areFew = computeMeanSize(clusters) < few_mean_size
  if (!areFew || given) return { ...common, route: 'clusters', areFew, isFinal: false, clusters }
  const lower = scores.map((score) => score - few_score_shift)
  const alone = clusterScoredPairs(rows, compared, lower, { ...settings, cut: 0 }, report)
  return { ...common, route: 'clusters', areFew, isFinal: true, clusters: alone, scores: lower, cut: 0 }
}

/** Clusters by one method above a cut. Within one source, one-to-one links may join any two records. */
export function clusterByMethod(
  method: Lens['clustering'],
  { sources, rows }: Pick<LensRecords, 'sources' | 'rows'>,
  compared: ComparedPairs,
  scores: Float64Array,
  bounds: ScoreBounds,
  report: EngineProgressListener = ignoreProgress,
): Int32Array {
  if (method === 'connected_components') {
    return connectRows(rows, { ...compared, above: scores }, bounds.cut).lowest()
  }
  if (method === 'one_to_one') {
    const isOne = sources.every((source) => source === 0)
    const sides = isOne ? Int32Array.from(sources, (_, row) => row) : sources
    return linkAcrossSources(sides, compared, scores, bounds.cut)
  }
  return clusterScoredPairs(rows, compared, scores, bounds, report)
}

/** Mean size of the clusters of two rows or more. */
function computeMeanSize(clusters: Int32Array): number {
  const sizes = countClusterSizes(clusters)
  let [all, count] = [0, 0]
  for (let cluster = 0; cluster < sizes.length; cluster++) {
    const size = sizes[cluster]!
    if (size < 2) continue
    all += size
    count++
  }
  return count === 0 ? 0 : all / count
}
