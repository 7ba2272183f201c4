// Completes clusters: comparer pairs that blocking missed, and estimates the weights again from the clusters.
import { clusterScoredPairs, type Grouping } from './cluster/clustering.ts'
import { addMissingPairs } from './cluster/missing-pairs.ts'
import type { PairComparer } from './compare/pair-comparer.ts'
import type { ComparedPairs, PairList } from './compare/patterns.ts'
import type { EngineProgressListener } from './progress.ts'
import type { ClusteringSettings, Training } from './resolution-context.ts'
import { computePatternMeans } from './score/competition.ts'
import { estimateModel, type MatchModel } from './score/model.ts'
import { computePairScores } from './score/pair-scores.ts'

const min_new_pair_share = 0.002

export type CompletionInput = {
  readonly comparer: PairComparer
  readonly rows: number
  readonly list: PairList
  /** Adds a pair to the list if its records may be compared. */
  readonly add: (a: number, b: number) => void
  /** Settings with the bounds and the cut in force. */
  readonly settings: ClusteringSettings
  readonly model: MatchModel
}

/**
 * Completes clusters in at most `max_rounds` rounds. With `isLearning`, the weights are estimated once more from the
 * final clusters.
 */
export function completeClusters(
  { comparer, rows, list, add, settings, model: first }: CompletionInput,
  grouping: Grouping,
  {
    max_rounds,
    isLearning,
    report,
  }: { readonly max_rounds: number; readonly isLearning: boolean; readonly report: EngineProgressListener },
): Grouping & { readonly model: MatchModel; readonly training?: Training } {
  let { scores, clusters } = grouping
  let model = first
  for (let round = 0; round < max_rounds; round++) {
    const from = list.length
    addMissingPairs(clusters, rows, { add, compared: () => list.compared() }, scores)
    scores = computePairScores(comparer, list.compared(), model, scores)
    clusters = clusterScoredPairs(rows, list.compared(), scores, settings, report, { clusters, from })
    if (list.length - from < from * min_new_pair_share) break
  }
  if (isLearning) {
    model = learnFromClusters(comparer, list.compared(), clusters)
    scores = computePairScores(comparer, list.compared(), model)
    clusters = clusterScoredPairs(rows, list.compared(), scores, settings, report)
  }
  return { ...grouping, clusters, scores, model, ...(isLearning && { training: 'clusters' as const }) }
}

/** Estimates the model from pairs within clusters as matches and all other pairs as non-matches. */
export function learnFromClusters(comparer: PairComparer, compared: ComparedPairs, clusters: Int32Array): MatchModel {
  const { lefts, rights } = compared
  const matches = Float64Array.from(lefts, (left, pair) => (clusters[left] === clusters[rights[pair]!] ? 1 : 0))
  return estimateModel(comparer, compared, computePatternMeans(compared, matches))
}
