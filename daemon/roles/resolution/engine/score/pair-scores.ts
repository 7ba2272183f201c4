// The score of each pair: its pattern's, and how rare the values are that both have.
import type { Comparing, Field } from '../compare/pairs.ts'
import type { Compared } from '../compare/patterns.ts'
import { countsOf } from '../text/dictionary.ts'
import { type Model, scoresOf } from './model.ts'

/** ln(sum of squared frequencies / frequency of the value), by its number. */
export function frequencyTerms(fields: readonly Field[], rows: number): Float64Array[] {
  return fields.map(({ column }) => {
    const counts = countsOf(column)
    const all = counts.reduce((sum, count) => sum + count, 0)
    let squares = 0
    for (const count of counts) squares += (count / all) ** 2
    return Float64Array.from(counts, (count) => Math.log(squares / Math.max(count / all, 2 / rows)))
  })
}

/** `terms` of the fields of which an equal rare value says more than an equal common one; those fields as bits. */
export type Rating = {
  readonly compares: Comparing
  readonly rows: number
  readonly asked: number
  readonly terms: readonly Float64Array[]
}

/** `hasFrequencies`: of fields that say nothing of it. */
export function ratingOf(compares: Comparing, rows: number, hasFrequencies: boolean): Rating {
  const asked = compares.fields.reduce(
    (bits, field, at) => bits | ((field.hasFrequencies ?? hasFrequencies) ? 1 << at : 0),
    0,
  )
  return { compares, rows, asked, terms: asked === 0 ? [] : frequencyTerms(compares.fields, rows) }
}

/** In natural logs of odds. `known`: scores of the first pairs by the same rating and model, which are kept. */
export function pairScores(
  { compares, asked, terms }: Rating,
  compared: Compared,
  model: Model,
  known: Float64Array = new Float64Array(0),
): Float64Array {
  const ofPatterns = scoresOf(model, compares, compared)
  const { length, patternOf, lefts } = compared
  const scores = new Float64Array(length)
  scores.set(known)
  const equal = equalFields(compared)
  const { width, values } = compares.table
  for (let pair = known.length; pair < length; pair++) {
    const pattern = patternOf[pair]!
    const row = lefts[pair]! * width
    let sum = ofPatterns[pattern]!
    for (let rest = equal[pattern]! & asked; rest !== 0; rest &= rest - 1) {
      const field = 31 - Math.clz32(rest & -rest)
      sum += terms[field]![values[row + field]!]!
    }
    scores[pair] = sum
  }
  return scores
}

/** For each pattern the fields in which both have the same value, as bits. */
function equalFields({ counts, fields, patterns }: Compared): Int32Array {
  return Int32Array.from(counts, (_, pattern) => {
    let equal = 0
    for (let field = 0; field < fields; field++) if (patterns[pattern * fields + field] === 1) equal |= 1 << field
    return equal
  })
}
