// Clusters of several support each other: what no block brought together is compared too, and the weights are learnt anew.
import { clustered, type Grouped } from './cluster/clustered.ts'
import { complete } from './cluster/completion.ts'
import type { Comparing } from './compare/pairs.ts'
import type { Compared, PairList } from './compare/patterns.ts'
import type { Tell } from './progress.ts'
import type { Settings } from './resolve-clusters.ts'
import { learned, type Model } from './score/model.ts'
import { pairScores } from './score/pair-scores.ts'

const enough_new = 0.002

export type Scored = {
  readonly compares: Comparing
  readonly rows: number
  readonly list: PairList
  /** Takes a pair into the list, if its records may be compared at all. */
  readonly add: (a: number, b: number) => void
  /** With the bounds and the cut that count. */
  readonly settings: Settings
  readonly model: Model
}

/** `most`: rounds of completing. `isLearning`: the weights are learnt once more from what is within clusters at last. */
export function completed(
  { compares, rows, list, add, settings, model: first }: Scored,
  found: Grouped,
  { most, isLearning, tell }: { readonly most: number; readonly isLearning: boolean; readonly tell: Tell },
): Grouped & { readonly model: Model } {
  let { scores, clusters } = found
  let model = first
  for (let round = 0; round < most; round++) {
    const from = list.length
    complete(clusters, rows, { add, compared: () => list.compared() }, scores)
    scores = pairScores(compares, list.compared(), model, scores)
    clusters = clustered(rows, list.compared(), scores, settings, tell, { clusters, from })
    if (list.length - from < from * enough_new) break
  }
  if (isLearning) {
    model = fromClusters(compares, list.compared(), clusters)
    scores = pairScores(compares, list.compared(), model)
    clusters = clustered(rows, list.compared(), scores, settings, tell)
  }
  return { ...found, clusters, scores, model }
}

/** Learns anew from what is within clusters and what is not. */
function fromClusters(compares: Comparing, compared: Compared, clusters: Int32Array): Model {
  const inside = new Float64Array(compared.counts.length)
  for (let pair = 0; pair < compared.length; pair++) {
    if (clusters[compared.lefts[pair]!] === clusters[compared.rights[pair]!]) inside[compared.patternOf[pair]!]!++
  }
  return learned(
    compares,
    compared,
    inside.map((count, pattern) => count / compared.counts[pattern]!),
  )
}
