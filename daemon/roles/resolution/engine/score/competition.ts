// Trains the model where a record has one match or few: the candidates of a record compete for it, so that many similar
// records cannot all count as matches.
import type { PairComparer } from '../compare/pair-comparer.ts'
import type { ComparedPairs, RatedPairs } from '../compare/patterns.ts'
import { estimateModel, type MatchModel } from './model.ts'
import { computePairScores } from './pair-scores.ts'

/** Scores above it have no further effect, and their sums stay finite. */
const max_score = 30

/**
 * Computes the match probability of each pair: its odds beside those of all pairs of either record, and of no match. Of
 * the two records, the one with more competition decides. `scores`: natural log-odds.
 */
export function computeCompetingProbabilities(
  rows: number,
  { lefts, rights, length }: Pick<ComparedPairs, 'lefts' | 'rights' | 'length'>,
  scores: Float64Array,
): Float64Array {
  const sums = new Float64Array(rows)
  const odds = new Float64Array(length)
  for (let pair = 0; pair < length; pair++) {
    odds[pair] = Math.exp(Math.min(scores[pair]!, max_score))
    sums[lefts[pair]!]! += odds[pair]!
    sums[rights[pair]!]! += odds[pair]!
  }
  for (let pair = 0; pair < length; pair++) {
    odds[pair] = odds[pair]! / (1 + Math.max(sums[lefts[pair]!]!, sums[rights[pair]!]!))
  }
  return odds
}

/** Computes the mean of the values of the pairs of each pattern; 0 for a pattern without pairs. */
export function computePatternMeans({ patternOf, counts }: ComparedPairs, values: Float64Array): Float64Array {
  const sums = new Float64Array(counts.length)
  for (let pair = 0; pair < patternOf.length; pair++) sums[patternOf[pair]!]! += values[pair]!
  return sums.map((sum, pattern) => (counts[pattern]! > 0 ? sum / counts[pattern]! : 0))
}

/** Trains by expectation-maximisation in which the candidates of a record compete. */
export function trainByCompetition(
  model: MatchModel,
  comparer: PairComparer,
  compared: RatedPairs,
  { rows, rounds }: { readonly rows: number; readonly rounds: number },
): MatchModel {
  let current = model
  for (let round = 0; round < rounds; round++) {
    const matches = computeCompetingProbabilities(rows, compared, computePairScores(comparer, compared, current))
    current = estimateModel(comparer, compared, computePatternMeans(compared, matches))
  }
  return current
}
