// Precision and recall of pair scores at every possible threshold.
import { countTruePairs, type PrecisionRecall, toPrecisionRecall } from './evaluate.ts'

export type ScoredPairs = { readonly lefts: Int32Array; readonly rights: Int32Array; readonly scores: Float64Array }

/** Quality when pairs of this score and above are taken as matches. */
export type ThresholdPoint = PrecisionRecall & { readonly threshold: number; readonly pairs: number }

export type ThresholdCurve = {
  /** From the highest threshold to the lowest; thinned evenly to `max_points`, the best point included. */
  readonly points: readonly ThresholdPoint[]
  /** The point with the highest F1; of equal ones, with the highest threshold. Undefined without pairs. */
  readonly best: ThresholdPoint | undefined
  /** Share of the true pairs that are among the scored pairs, whatever their score. */
  readonly recall: number
}

/** `truth` gives the cluster of each row. Each pair occurs once; recall counts all true pairs, compared or not. */
export function sweepThresholds(
  { lefts, rights, scores }: ScoredPairs,
  truth: Int32Array,
  max_points = 200,
): ThresholdCurve {
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
  const step = Math.max(1, (found.length - 1) / (max_points - 1))
  const chosen = new Set(
    Array.from({ length: Math.min(max_points, found.length) }, (_, at) => found[Math.round(at * step)]),
  )
  const points = found.filter((point) => point === best || chosen.has(point))
  return { points, best, recall: all === 0 ? 0 : right / all }
}
