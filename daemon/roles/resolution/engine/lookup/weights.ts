// What a run learnt, kept so that one record can be scored later as the run scored its own: weights, prior, cut.
import type { Lens } from '../../lens/model.ts'
import type { LensRecords } from '../records/records.ts'
import { computeHighestScore, type DetailedResolution } from '../resolve.ts'
import { createPartialWeightReader, type MatchWeights } from '../score/match-weights.ts'
import { logit } from '../score/model.ts'

/** Natural logs of odds. `floor` and `highest` bound what one pair says within a cluster; `cut`: from which on records are one. */
export type LookupWeights = {
  readonly prior: number
  readonly cut: number
  readonly floor: number
  readonly highest: number
  readonly fields: { name: string; outcomes: number[]; has_frequencies: boolean }[]
}

/** JSON has no infinities: a given level of chance nought weighs so much. */
const max_weight = 700

/** Where texts told by likeness, a record is looked up by the fields' odds alone, and counts from even odds on. */
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

/** What is left of a score without its fields: the same for every pair of a run. */
function computePrior(
  records: LensRecords,
  { compared, scores, model }: DetailedResolution,
  weights: MatchWeights,
): number {
  if (compared.length === 0) return logit(model.lambda)
  const parts = createPartialWeightReader(records, compared, weights)(0)
  const told = parts.reduce((sum, { bits, frequency_bits }) => sum + bits + frequency_bits, 0)
  return scores[0]! - told * Math.LN2
}

function clampWeight(weight: number): number {
  return Math.max(-max_weight, Math.min(max_weight, weight))
}
