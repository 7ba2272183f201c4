// What a score is made of, kept beside the scores: the weight of each outcome of each field, and where rare values count more.
import type { ComparedPairs } from '../compare/patterns.ts'
import type { LensRecords } from '../records/records.ts'
import type { DetailedResolution } from '../resolve.ts'
import { computeWeights } from './model.ts'
import { computeFrequencyTerms } from './pair-scores.ts'

/** Plain values: natural logs by field and outcome, and of each field whether equal values are weighed by how rare they are. */
export type MatchWeights = {
  readonly outcomes: readonly (readonly number[])[]
  readonly hasFrequencies: readonly boolean[]
}

/** `byFrequency`: what fields do that say nothing of it. */
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

/** Of any pair by its number: what each field adds, as log-odds to base 2. */
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
