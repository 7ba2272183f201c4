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
 * the two records, the one with more competition decides. Pairs within one of `clusters` do not compete with each other.
 * `scores`: natural log-odds.
 */
export function computeCompetingProbabilities(
  rows: number,
  { lefts, rights, length }: Pick<ComparedPairs, 'lefts' | 'rights' | 'length'>,
  scores: Float64Array,
  clusters?: Int32Array,
): Float64Array {
  const isInside = (pair: number) => clusters !== undefined && clusters[lefts[pair]!] === clusters[rights[pair]!]
  const inside = new Float64Array(clusters ? rows : 0)
  const outside = new Float64Array(rows)
  const odds = new Float64Array(length)
  for (let pair = 0; pair < length; pair++) {
    odds[pair] = Math.exp(Math.min(scores[pair]!, max_score))
    const sums = isInside(pair) ? inside : outside
    sums[lefts[pair]!]! += odds[pair]!
    sums[rights[pair]!]! += odds[pair]!
  }
  const sumOf = (row: number) => outside[row]! + (clusters ? inside[row]! : 0)
  for (let pair = 0; pair < length; pair++) {
    const [left, right] = [lefts[pair]!, rights[pair]!]
    const rivals = isInside(pair)
      ? odds[pair]! + Math.max(outside[left]!, outside[right]!)
      : Math.max(sumOf(left), sumOf(right))
    odds[pair] = odds[pair]! / (1 + rivals)
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
