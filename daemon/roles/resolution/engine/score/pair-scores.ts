// The score of each pair: its pattern's, and how rare the values are that both have.
import type { Comparing, Field, Terms } from '../compare/pairs.ts'
import type { Rated } from '../compare/patterns.ts'
import { countsOf } from '../text/dictionary.ts'
import { type Model, scoresOf } from './model.ts'

/** ln(sum of squared frequencies / frequency of the value), by its number. `byFrequency`: of fields that say nothing of it. */
export function frequencyTerms(fields: readonly Field[], rows: number, byFrequency: boolean): Terms {
  return fields.map(({ column, hasFrequencies }) => {
    if (!(hasFrequencies ?? byFrequency)) return undefined
    const counts = countsOf(column)
    const all = counts.reduce((sum, count) => sum + count, 0)
    let squares = 0
    for (const count of counts) squares += (count / all) ** 2
    const terms = new Float64Array(counts.length)
    for (let value = 0; value < terms.length; value++) {
      terms[value] = Math.log(squares / Math.max(counts[value]! / all, 2 / rows))
    }
    return terms
  })
}

/** In natural logs of odds. `known`: scores of the first pairs by the same model, which are kept. */
export function pairScores(
  compares: Comparing,
  compared: Rated,
  model: Model,
  known: Float64Array = new Float64Array(0),
): Float64Array {
  const ofPatterns = scoresOf(model, compares, compared)
  const { length, patternOf, rarity } = compared
  const scores = new Float64Array(length)
  scores.set(known)
  for (let pair = known.length; pair < length; pair++) scores[pair] = ofPatterns[patternOf[pair]!]! + rarity[pair]!
  return scores
}
