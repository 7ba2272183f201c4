// The score of each pair: its pattern's, and how rare the values are that both have.
import type { Comparing, Field } from '../compare/pairs.ts'
import type { Compared } from '../compare/patterns.ts'
import { countsOf } from '../text/dictionary.ts'
import { type Model, scoresOf } from './model.ts'

/** ln(sum of squared frequencies / frequency of the value), by its number. */
function frequencyTerms(fields: readonly Field[], rows: number): Float64Array[] {
  return fields.map(({ column }) => {
    const counts = countsOf(column)
    const all = counts.reduce((sum, count) => sum + count, 0)
    let squares = 0
    for (const count of counts) squares += (count / all) ** 2
    return Float64Array.from(counts, (count) => Math.log(squares / Math.max(count / all, 2 / rows)))
  })
}

export type Rating = { readonly compares: Comparing; readonly rows: number; readonly hasFrequencies: boolean }

/** In natural logs of odds. `hasFrequencies`: an equal rare value says more than an equal common one. */
export function pairScores({ compares, rows, hasFrequencies }: Rating, compared: Compared, model: Model): Float64Array {
  const ofPatterns = scoresOf(model, compares, compared)
  const { length, fields, patterns, patternOf, lefts } = compared
  const scores = new Float64Array(length)
  for (let pair = 0; pair < length; pair++) scores[pair] = ofPatterns[patternOf[pair]!]!
  if (!compares.fields.some((field) => field.hasFrequencies ?? hasFrequencies)) return scores
  const terms = frequencyTerms(compares.fields, rows)
  for (let field = 0; field < fields; field++) {
    const { column, hasFrequencies: isAsked = hasFrequencies } = compares.fields[field]!
    if (!isAsked) continue
    const { codes } = column
    const ofValues = terms[field]!
    const isEqual = Uint8Array.from(ofPatterns, (_, pattern) => (patterns[pattern * fields + field] === 1 ? 1 : 0))
    for (let pair = 0; pair < length; pair++) {
      if (isEqual[patternOf[pair]!]) scores[pair]! += ofValues[codes[lefts[pair]!]!]!
    }
  }
  return scores
}
