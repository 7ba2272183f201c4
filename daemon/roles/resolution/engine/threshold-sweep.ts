// Precision and recall of pair scores at every possible threshold.
import { countTruePairs, type PrecisionRecall, toPrecisionRecall } from './evaluate.ts'

export type ScoredPairs = { readonly lefts: Int32Array; readonly rights: Int32Array; readonly scores: Float64Array }

/** Quality if pairs with this score and above are matches. */
export type ThresholdPoint = PrecisionRecall & { readonly threshold: number; readonly pairs: number }

export type ThresholdCurve = {
  /** Points from the highest threshold to the lowest, thinned evenly to `max_points`, including the best point. */
  readonly points: readonly ThresholdPoint[]
  /** The point with the highest F1; of equal ones, with the highest threshold. Undefined without pairs. */
  readonly best: ThresholdPoint | undefined
  /** Share of the true pairs that are among the scored pairs, with any score. */
  readonly recall: number
}

/**
 * Sweeps all thresholds. `truth`: cluster of each row. Each pair occurs once; recall counts all true pairs, compared or
 * not.
 */
export function sweepThresholds(
  { lefts, rights, scores }: ScoredPairs,
  truth: Int32Array,
  max_points = 200,
): ThresholdCurve {
  const true_pairs = countTruePairs(truth)
  const order = Uint32Array.from(scores, (_, pair) => pair).sort((a, b) => scores[b]! - scores[a]!)
  const all: ThresholdPoint[] = []
  let best: ThresholdPoint | undefined
  let right = 0
  for (const [at, pair] of order.entries()) {
    if (truth[lefts[pair]!] === truth[rights[pair]!]) right++
    if (at + 1 < order.length && scores[order[at + 1]!] === scores[pair]) continue
    const point = {
      threshold: scores[pair]!,
      pairs: at + 1,
      ...toPrecisionRecall(right / (at + 1), right / true_pairs),
    }
    if (!best || point.f1 > best.f1) best = point
    all.push(point)
  }
  const step = Math.max(1, (all.length - 1) / (max_points - 1))
  const chosen = new Set(
    Array.from({ length: Math.min(max_points, all.length) }, (_, at) => all[Math.round(at * step)]),
  )
  const points = all.filter((point) => point === best || chosen.has(point))
  return { points, best, recall: true_pairs === 0 ? 0 : right / true_pairs }
}
