// How well scores of pairs tell the truth, at every threshold that could be set.
import { countTruePairs, type PrecisionRecall, toPrecisionRecall } from './evaluate.ts'

export type ScoredPairs = { readonly lefts: Int32Array; readonly rights: Int32Array; readonly scores: Float64Array }

/** Pairs of this score and more are taken as one. */
export type ThresholdPoint = PrecisionRecall & { readonly threshold: number; readonly pairs: number }

export type ThresholdCurve = {
  /** From the highest threshold to the lowest, evenly chosen where there are more than `most`, the best among them. */
  readonly points: readonly ThresholdPoint[]
  /** Of the highest F1; of equal ones, of the highest threshold. Undefined without pairs. */
  readonly best: ThresholdPoint | undefined
  /** The part of the true pairs that are there at all, whatever their score. */
  readonly recall: number
}

/** `trueClusters` gives each row's cluster. Each pair is there once; recall counts all true pairs, compared or not. */
export function sweepThresholds({ lefts, rights, scores }: ScoredPairs, truth: Int32Array, most = 200): ThresholdCurve {
  const all = countTruePairs(truth)
  const order = Uint32Array.from(scores, (_, pair) => pair).sort((a, b) => scores[b]! - scores[a]!)
  const found: ThresholdPoint[] = []
  let best: ThresholdPoint | undefined
  let right = 0
  for (const [at, pair] of order.entries()) {
    if (truth[lefts[pair]!] === truth[rights[pair]!]) right++
    if (at + 1 < order.length && scores[order[at + 1]!] === scores[pair]) continue
    const point = { threshold: scores[pair]!, pairs: at + 1, ...toPrecisionRecall(right / (at + 1), right / all) }
    if (!best || point.f1 > best.f1) best = point
    found.push(point)
  }
  const step = Math.max(1, (found.length - 1) / (most - 1))
  const chosen = new Set(Array.from({ length: Math.min(most, found.length) }, (_, at) => found[Math.round(at * step)]))
  const points = found.filter((point) => point === best || chosen.has(point))
  return { points, best, recall: all === 0 ? 0 : right / all }
}
