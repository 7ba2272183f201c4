// Components of a score, stored with the scores: the weight of each outcome of each field, and the fields with
// frequency terms.
import type { FrequencyTerms } from '../compare/pair-comparer.ts'
import type { ComparedPairs } from '../compare/patterns.ts'
import type { LensRecords } from '../records/records.ts'
import type { DetailedResolution } from '../resolve.ts'
import { computeWeights } from './model.ts'
import { computeFrequencyTerms } from './pair-scores.ts'

/** Weights in natural logs by field and outcome, and whether each field weights equal values by frequency. */
export type MatchWeights = {
  readonly outcomes: readonly (readonly number[])[]
  readonly hasFrequencies: readonly boolean[]
}

/** Extracts the weights of a model. `byFrequency` applies to fields that do not specify it. */
export function extractMatchWeights(
  { model, comparer }: Pick<DetailedResolution, 'model' | 'comparer'>,
  byFrequency: boolean,
): MatchWeights {
  return {
    outcomes: computeWeights(model, comparer),
    hasFrequencies: comparer.fields.map(({ hasFrequencies }) => hasFrequencies ?? byFrequency),
  }
}

/** Extracts the weights in the scores of pairs. A text similarity does not count how rare a value is. */
export function extractScoreWeights(
  { model, comparer, scale }: Pick<DetailedResolution, 'model' | 'comparer' | 'scale'>,
  byFrequency: boolean,
): MatchWeights {
  const weights = extractMatchWeights({ model, comparer }, byFrequency)
  return scale === 'log_odds' ? weights : { ...weights, hasFrequencies: weights.hasFrequencies.map(() => false) }
}

/** Computes the frequency terms of the fields that the weights count them for. */
export function computeWeightedTerms(
  fields: LensRecords['fields'],
  rows: number,
  { hasFrequencies }: MatchWeights,
): FrequencyTerms {
  return computeFrequencyTerms(
    fields.map((field, at) => ({ ...field, hasFrequencies: hasFrequencies[at] ?? false })),
    rows,
    false,
  )
}

export type PartialMatchWeight = {
  readonly field: string
  readonly outcome: number
  readonly bits: number
  readonly frequency_bits: number
}

/** Creates a reader of the contribution of each field to the score of a pair, as log-odds to base 2. */
export function createPartialWeightReader(
  records: LensRecords,
  compared: ComparedPairs,
  weights: MatchWeights,
): (pair: number) => PartialMatchWeight[] {
  const { fields, rows } = records
  const { lefts, patternOf, patterns } = compared
  const terms = computeWeightedTerms(fields, rows, weights)
  return (pair) => {
    const from = patternOf[pair]! * compared.fields
    return fields.map(({ name, column }, field) => {
      const outcome = patterns[from + field]!
      const frequency = (outcome === 1 && terms[field]?.[column.codes[lefts[pair]!]!]) || 0
      const bits = weights.outcomes[field]![outcome]! / Math.LN2
      return { field: name, outcome, bits, frequency_bits: frequency / Math.LN2 }
    })
  }
}
