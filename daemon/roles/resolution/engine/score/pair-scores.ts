// Scores of pairs: the score of the pattern plus the rarity of shared values.
import type { FieldColumn, FrequencyTerms, PairComparer } from '../compare/pair-comparer.ts'
import type { RatedPairs } from '../compare/patterns.ts'
import { countRows } from '../text/dictionary.ts'
import { type MatchModel, scorePatterns } from './model.ts'

/**
 * Computes ln(sum of squared frequencies / frequency of the value), by value code. `byFrequency` applies to fields that
 * do not specify it.
 */
export function computeFrequencyTerms(
  fields: readonly FieldColumn[],
  rows: number,
  byFrequency: boolean,
): FrequencyTerms {
  return fields.map(({ column, hasFrequencies }) => {
    if (!(hasFrequencies ?? byFrequency)) return undefined
    const counts = countRows(column)
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

/** Computes scores in natural log-odds. `previous`: scores of the first pairs by the same model, which are reused. */
export function computePairScores(
  comparer: PairComparer,
  compared: RatedPairs,
  model: MatchModel,
  previous: Float64Array = new Float64Array(0),
): Float64Array {
  const patternScores = scorePatterns(model, comparer, compared)
  const { length, patternOf, rarity } = compared
  const scores = new Float64Array(length)
  scores.set(previous)
  for (let pair = previous.length; pair < length; pair++)
    scores[pair] = patternScores[patternOf[pair]!]! + rarity[pair]!
  return scores
}
