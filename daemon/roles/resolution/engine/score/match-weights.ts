// Components of a score, stored beside the scores: the weight of each outcome of each field, and the fields with rarity
// terms.
import type { ComparedPairs } from '../compare/patterns.ts'
import type { LensRecords } from '../records/records.ts'
import type { DetailedResolution } from '../resolve.ts'
import { computeWeights } from './model.ts'
import { computeFrequencyTerms } from './pair-scores.ts'

/** Natural logs by field and outcome; and for each field whether equal values are weighted by rarity. */
export type MatchWeights = {
  readonly outcomes: readonly (readonly number[])[]
  readonly hasFrequencies: readonly boolean[]
}

/** `byFrequency` applies to fields that do not specify it. */
export function extractMatchWeights(
  { model, compares }: Pick<DetailedResolution, 'model' | 'compares'>,
  byFrequency: boolean,
): MatchWeights {
  return {
    outcomes: computeWeights(model, compares),
    hasFrequencies: compares.fields.map(({ hasFrequencies }) => hasFrequencies ?? byFrequency),
  }
}

export type PartialMatchWeight = {
  readonly field: string
  readonly outcome: number
  readonly bits: number
  readonly frequency_bits: number
}

/** Reads the contribution of each field to the score of a pair, as log-odds to base 2. */
export function createPartialWeightReader(
  records: LensRecords,
  compared: ComparedPairs,
  weights: MatchWeights,
): (pair: number) => PartialMatchWeight[] {
  const { fields, rows } = records
  const { lefts, patternOf, patterns } = compared
  const weighed = fields.map((field, at) => ({ ...field, hasFrequencies: weights.hasFrequencies[at] ?? false }))
  const terms = computeFrequencyTerms(weighed, rows, false)
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
