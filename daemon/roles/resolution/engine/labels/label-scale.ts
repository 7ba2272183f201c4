// Brings scores of either scale to natural log-odds, in which labels correct them, and back into the numbers of a lens.
import { likeness_per_nat } from '../../explain/review-worth.ts'
import type { Lens } from '../../lens/model.ts'
import { PairList } from '../compare/patterns.ts'
import type { DetailedResolution } from '../resolve.ts'
import { computeWeights, logistic, logit } from '../score/model.ts'
import { computePairScores } from '../score/pair-scores.ts'
import { shiftWeights, type WeightShift } from './move-weights.ts'

/** Numbers of a lens: weights in natural logs by field and outcome, the prior, and the cut in the scale of its scores. */
export type LensNumbers = {
  readonly weights: readonly (readonly number[])[]
  readonly prior: number
  readonly cut: number
}

/** Scores after labels, in natural log-odds, and the numbers of a lens that gives them and cuts at `cut`. */
export type MovedScores = { readonly scores: Float64Array; toLensNumbers(cut: number): LensNumbers }

export type LabelScale = {
  /** The result before labels, in the numbers of a lens. */
  readonly numbers: LensNumbers
  /** Evidence of each compared pair in natural log-odds, before labels. */
  readonly evidence: Float64Array
  /** The cut on this evidence, before labels. */
  readonly evidence_cut: number
  move(shift: WeightShift): MovedScores
}

/** Creates the scale of a result. A likeness is measured from its cut, in nats. */
export function createLabelScale(lens: Lens, resolution: DetailedResolution): LabelScale {
  const { model, comparer, compared, scores, cut, scale } = resolution
  const isLikeness = scale === 'likeness'
  const weights = computeWeights(model, comparer)
  const lowered = isLikeness ? 0 : measureLowering(resolution)
  const evidence = scores.map((score) => (isLikeness ? (score - cut) / likeness_per_nat : score + lowered))
  const gain = isLikeness ? (lens.text_evidence > 0 ? likeness_per_nat / lens.text_evidence : 0) : 1
  return {
    numbers: { weights, prior: model.lambda, cut: cut + lowered },
    evidence,
    evidence_cut: isLikeness ? 0 : cut + lowered,
    move(shift) {
      const moved = shiftWeights(weights, shift, { swapped: comparer.swapped, gain })
      const added = moved.map((list, field) =>
        list.map((weight, outcome) => (gain > 0 ? (weight - weights[field]![outcome]!) / gain : 0)),
      )
      const { fields, patterns, counts, patternOf } = compared
      const sums = new Float64Array(counts.length).fill(shift.prior)
      for (let at = 0; at < patterns.length; at++) sums[Math.floor(at / fields)]! += added[at % fields]![patterns[at]!]!
      return {
        scores: evidence.map((score, pair) => score + sums[patternOf[pair]!]!),
        toLensNumbers: (height) =>
          isLikeness
            ? { weights: moved, prior: model.lambda, cut: cut + likeness_per_nat * (height - shift.prior) }
            : { weights: moved, prior: logistic(logit(model.lambda) + shift.prior), cut: height },
      }
    },
  }
}

/** Scores of a result may all be lower than those of its model, by the same number. */
function measureLowering({ comparer, compared: { lefts, rights, length }, model, scores }: DetailedResolution): number {
  if (length === 0) return 0
  const list = new PairList(comparer)
  list.add(lefts[0]!, rights[0]!)
  return computePairScores(comparer, list.compared(), model)[0]! - scores[0]!
}
