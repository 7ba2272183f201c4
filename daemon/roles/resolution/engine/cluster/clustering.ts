// Clusters scored pairs by the method and the threshold of a lens, or by the settings for the kind of data.
import type { Lens } from '../../lens/model.ts'
import type { ComparedPairs } from '../compare/patterns.ts'
import { type EngineProgressListener, ignoreProgress } from '../progress.ts'
import type { LensRecords } from '../records/records.ts'
import type { ClusteringSettings, ClusterResult } from '../resolution-context.ts'
import { clusterByAverageLink, type PreviousClusters } from './average-link.ts'
import { areSourcesClean, linkAcrossSources, listSides } from './clean-sources.ts'
import { countClusterSizes } from './cluster-sizes.ts'
import { connectRows } from './disjoint-sets.ts'

/** Below this mean size, clusters do not support their pairs, so each pair needs enough evidence by itself. */
const few_mean_size = 2.5
const few_score_shift = 3
/** Steps of a score in one unit. */
const score_steps = 65_536
/** Half of the range of scores of one pair within a cluster. */
const half_width = 4

type ScoreBounds = Pick<ClusteringSettings, 'lowest' | 'highest' | 'cut'>

/** Clusters with the scores and bounds that they come from. */
export type Grouping = Pick<ClusterResult, 'route' | 'clusters' | 'scores' | 'cut' | 'floor'>

export type GroupingResult = Grouping & {
  /** Whether completion is pointless, because the clusters do not support their records. */
  readonly isFinal: boolean
}

/** Clusters by average link. `before`: clusters of the same pairs and scores, without the new pairs. */
export function clusterScoredPairs(
  rows: number,
  { lefts, rights }: ComparedPairs,
  scores: Float64Array,
  { lowest, highest, cut }: ScoreBounds,
  report: EngineProgressListener,
  before?: PreviousClusters,
): Int32Array {
  const above = new Float64Array(scores.length)
  for (let pair = 0; pair < above.length; pair++) above[pair] = roundScore(Math.min(highest, scores[pair]!) - lowest)
  return clusterByAverageLink(rows, { lefts, rights, above }, cut - lowest, before, report)
}

/** Rounds, so that sums of scores are exact in any order: otherwise two clusters could each be nearer than the other. */
function roundScore(score: number): number {
  return Math.round(score * score_steps) / score_steps
}

/** Returns bounds as far from a cut on both sides. */
export function cutBounds(cut: number): ScoreBounds {
  return { cut, lowest: cut - half_width, highest: cut + half_width }
}

/** Returns the settings with the cut of the lens; undefined if the lens leaves the cut to the data. */
export function applyLensCut(lens: Lens, settings: ClusteringSettings): ClusteringSettings | undefined {
  const cut = readLensCut(lens)
  if (cut === undefined) return undefined
  const shift = cut - settings.cut
  return { ...settings, cut, lowest: settings.lowest + shift, highest: settings.highest + shift }
}

/** Reads the cut in natural logs. With fixed weights, or a method other than average link, it is 0 by default. */
function readLensCut({ threshold, clustering, fields }: Lens): number | undefined {
  if (threshold !== undefined) return threshold * Math.LN2
  return fields[0]?.weights || (clustering ?? 'average_link') !== 'average_link' ? 0 : undefined
}

/**
 * Groups records. Two clean sources are linked at once. If most clusters are pairs without a third record to support
 * them, clusters again with lower scores.
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
  const lensSettings = applyLensCut(lens, settings)
  const bounds = lensSettings ?? settings
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
    return { ...common, route, isFinal: true, clusters }
  }
  const clusters = clusterScoredPairs(rows, compared, scores, bounds, report)
  const areFew = computeMeanSize(clusters).mean < few_mean_size
  if (!areFew || lensSettings) return { ...common, route: 'clusters', isFinal: false, clusters }
  const loweredScores = scores.map((score) => score - few_score_shift)
  const stricter = clusterScoredPairs(rows, compared, loweredScores, { ...settings, cut: 0 }, report)
  return { ...common, route: 'clusters', isFinal: true, clusters: stricter, scores: loweredScores, cut: 0 }
}

/** Clusters by one method above a cut. In a single source, one-to-one links may join any two records. */
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
    return linkAcrossSources(listSides(sources), compared, scores, bounds.cut)
  }
  return clusterScoredPairs(rows, compared, scores, bounds, report)
}

/** Counts the clusters of two rows or more, and computes their mean size; 0 without any. */
export function computeMeanSize(clusters: Int32Array): { readonly count: number; readonly mean: number } {
  const sizes = countClusterSizes(clusters)
  let [sum, count] = [0, 0]
  for (let cluster = 0; cluster < sizes.length; cluster++) {
    const size = sizes[cluster]!
    if (size < 2) continue
    sum += size
    count++
  }
  return { count, mean: count === 0 ? 0 : sum / count }
}
