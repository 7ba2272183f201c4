// Measures the mean size of the clusters of sure pairs, by which tables with many records an entity differ from tables of pairs.
import type { ComparedPairs } from '../compare/patterns.ts'
import { ignoreProgress } from '../progress.ts'
import { clusterScoredPairs, computeMeanSize, cutBounds } from './clustering.ts'

/** Log-odds of a sure pair. */
export const sure_score = 3
/**
 * Least mean size of sure clusters in a table with many records an entity: such tables lay at 3.3 to 5.6, tables with
 * few at 2.0 to 2.75.
 */
const min_many_size = 2.8
/** Below it, the mean size is measured at the median score of likely pairs instead. */
const min_sure_clusters = 10
const likely_score = -2

/** Computes the mean size of the sure clusters; 0 without any. */
export function measureSureClusters(rows: number, compared: ComparedPairs, scores: Float64Array): number {
  const measure = (cut: number) =>
    computeMeanSize(clusterScoredPairs(rows, compared, scores, cutBounds(cut), ignoreProgress))
  const { count, mean } = measure(sure_score)
  if (count >= min_sure_clusters) return mean
  const likely = scores.filter((score) => score > likely_score).sort()
  return measure(Math.min(likely[likely.length >> 1] ?? 0, sure_score)).mean
}

export function haveManyRecords(mean_size: number): boolean {
  return mean_size >= min_many_size
}
