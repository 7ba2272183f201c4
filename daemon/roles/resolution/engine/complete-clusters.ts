// Clusters of several support each other: what no block brought together is compared too, and the weights are learnt anew.
import { clusterScoredPairs, type GroupingResult } from './cluster/clustering.ts'
import { addMissingPairs } from './cluster/missing-pairs.ts'
import type { PairComparer } from './compare/pair-comparer.ts'
import type { ComparedPairs, PairList } from './compare/patterns.ts'
import type { EngineProgressListener } from './progress.ts'
import type { ClusteringSettings } from './resolve-clusters.ts'
import { estimateModel, type MatchModel } from './score/model.ts'
import { computePairScores } from './score/pair-scores.ts'

const min_new_pair_share = 0.002

export type CompletionInput = {
  readonly compares: PairComparer
  readonly rows: number
  readonly list: PairList
  /** Takes a pair into the list, if its records may be compared at all. */
  readonly add: (a: number, b: number) => void
  /** With the bounds and the cut that count. */
  readonly settings: ClusteringSettings
  readonly model: MatchModel
}

/** `most`: rounds of completing. `isLearning`: the weights are learnt once more from what is within clusters at last. */
export function completeClusters(
  { compares, rows, list, add, settings, model: first }: CompletionInput,
  found: GroupingResult,
  {
    most,
    isLearning,
    tell,
  }: { readonly most: number; readonly isLearning: boolean; readonly tell: EngineProgressListener },
): GroupingResult & { readonly model: MatchModel } {
  let { scores, clusters } = found
  let model = first
  for (let round = 0; round < most; round++) {
    const from = list.length
    addMissingPairs(clusters, rows, { add, compared: () => list.compared() }, scores)
    scores = computePairScores(compares, list.compared(), model, scores)
    clusters = clusterScoredPairs(rows, list.compared(), scores, settings, tell, { clusters, from })
    if (list.length - from < from * min_new_pair_share) break
  }
  if (isLearning) {
    model = learnFromClusters(compares, list.compared(), clusters)
    scores = computePairScores(compares, list.compared(), model)
    clusters = clusterScoredPairs(rows, list.compared(), scores, settings, tell)
  }
  return { ...found, clusters, scores, model }
}

/** Learns anew from what is within clusters and what is not. */
function learnFromClusters(compares: PairComparer, compared: ComparedPairs, clusters: Int32Array): MatchModel {
  const inside = new Float64Array(compared.counts.length)
  for (let pair = 0; pair < compared.length; pair++) {
    if (clusters[compared.lefts[pair]!] === clusters[compared.rights[pair]!]) inside[compared.patternOf[pair]!]!++
  }
  return estimateModel(
    compares,
    compared,
    inside.map((count, pattern) => count / compared.counts[pattern]!),
  )
}
