// The trained weights of a run, stored so that single records can be scored later in the same way.
import type { Lens } from '../../lens/model.ts'
import type { LensRecords } from '../records/records.ts'
import { computeHighestScore, type DetailedResolution } from '../resolve.ts'
import { createPartialWeightReader, type MatchWeights } from '../score/match-weights.ts'
import { logit } from '../score/model.ts'

/**
 * Weights in natural log-odds. `floor` and `highest` bound the score of one pair within a cluster; records above `cut`
 * are one entity.
 */
export type LookupWeights = {
  readonly prior: number
  readonly cut: number
  readonly floor: number
  readonly highest: number
  readonly fields: { name: string; outcomes: number[]; has_frequencies: boolean }[]
}

/** Replaces infinity, the weight of a level with probability 0, which JSON cannot represent. */
const max_weight = 700

/**
 * Builds the weights. After a run by text similarity, lookups use only the odds of the fields, and the cut is even
 * odds.
 */
export function buildLookupWeights(
  lens: Lens,
  records: LensRecords,
  resolution: DetailedResolution,
  weights: MatchWeights,
): LookupWeights {
  const isOdds = resolution.scale === 'log_odds'
  const floor = isOdds ? resolution.floor : computeHighestScore(lens, 0) / -2
  return {
    prior: clampWeight(isOdds ? computePrior(records, resolution, weights) : logit(resolution.model.lambda)),
    cut: isOdds ? resolution.cut : 0,
    floor,
    highest: computeHighestScore(lens, floor),
    fields: records.fields.map(({ name }, field) => ({
      name,
      outcomes: (weights.outcomes[field] ?? []).map(clampWeight),
      has_frequencies: weights.hasFrequencies[field] ?? false,
    })),
  }
}

/** Computes the prior: the score of any pair minus the weights of its fields is the same for every pair of a run. */
export function computePrior(
  records: LensRecords,
  { compared, scores, model }: DetailedResolution,
  weights: MatchWeights,
): number {
  if (compared.length === 0) return logit(model.lambda)
  const parts = createPartialWeightReader(records, compared, weights)(0)
  const field_bits = parts.reduce((sum, { bits, frequency_bits }) => sum + bits + frequency_bits, 0)
  return scores[0]! - field_bits * Math.LN2
}

function clampWeight(weight: number): number {
  return Math.max(-max_weight, Math.min(max_weight, weight))
}
