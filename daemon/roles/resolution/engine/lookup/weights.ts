// The trained weights of a run, stored so that a single record can be scored later as the run scored its own.
import type { Lens } from '../../lens/model.ts'
import type { LensRecords } from '../records/records.ts'
import { computeHighestScore, type DetailedResolution } from '../resolve.ts'
import { createPartialWeightReader, type MatchWeights } from '../score/match-weights.ts'
import { logit } from '../score/model.ts'

/**
 * Natural logs of odds. `floor` and `highest` bound the score of one pair within a cluster; records above `cut` are one
 * entity.
 */
export type LookupWeights = {
  readonly prior: number
  readonly cut: number
  readonly floor: number
  readonly highest: number
  readonly fields: { name: string; outcomes: number[]; has_frequencies: boolean }[]
}

/** Replaces infinity, which JSON lacks: the weight of a level with probability 0. */
const max_weight = 700

/** After a run by likeness of texts, lookups use the odds of the fields alone, and the cut is even odds. */
export function buildLookupWeights(
  lens: Lens,
  records: LensRecords,
  found: DetailedResolution,
  weights: MatchWeights,
): LookupWeights {
  const isOdds = found.scale === 'log_odds'
  const floor = isOdds ? found.floor : computeHighestScore(lens, 0) / -2
  return {
    prior: clampWeight(isOdds ? computePrior(records, found, weights) : logit(found.model.lambda)),
    cut: isOdds ? found.cut : 0,
    floor,
    highest: computeHighestScore(lens, floor),
    fields: records.fields.map(({ name }, field) => ({
      name,
      outcomes: (weights.outcomes[field] ?? []).map(clampWeight),
      has_frequencies: weights.hasFrequencies[field] ?? false,
    })),
  }
}

/** The score of any pair less the weights of its fields: the same for every pair of a run. */
function computePrior(
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
