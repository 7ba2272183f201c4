// Learns the weights of the candidates without labels.
import { type Candidates, hasManyRecords } from './candidates.ts'
import type { PairComparer } from './compare/pair-comparer.ts'
import { drawPairs } from './compare/patterns.ts'
import { learnWeightsOfMany } from './many-records.ts'
import type { LensRecords } from './records/records.ts'
import type { ResolutionContext } from './resolution-context.ts'
import { computeProbabilities, createInitialModel, type MatchModel, trainModel } from './score/model.ts'
import { computePairScores } from './score/pair-scores.ts'

/** Rounds of expectation-maximisation. */
export const em_rounds = 4
/** Even odds: below it, most of what the model takes for matches is not likely to match. */
const min_sharpness = 0.5

/** A model and the scores that it gives. */
export type LearntModel = {
  readonly model: MatchModel
  readonly scores: Float64Array
  /** The model before training; undefined if the lens fixes m and u, so that nothing is learnt. */
  readonly first?: MatchModel
}

export function learnWeights(records: LensRecords, candidates: Candidates, context: ResolutionContext): MatchModel {
  if (!hasManyRecords(records)) return learnWithoutCompetition(records, context, candidates).model
  const copies = 'copies' in candidates ? candidates.copies : undefined
  return learnWeightsOfMany(candidates.comparer, records, candidates.list, context.random, copies)
}

/**
 * Learns without competition between the candidates of a record. Where matches are rare and fields few, training may end
 * with another division of the candidates, in which no pair is a likely match; then the chance agreement of all rows
 * holds it to matches. Texts are left to competition, since variants agree more than chance, too.
 */
export function learnWithoutCompetition(
  records: LensRecords,
  { random }: ResolutionContext,
  { comparer, list }: Candidates,
): LearntModel {
  const compared = list.compared()
  const first = createUntrainedModel(records, comparer, random)
  const trained = trainModel(first, comparer, compared, em_rounds)
  const scores = computePairScores(comparer, compared, trained)
  const hasTexts = records.fields.some(({ type }) => type === 'text')
  if (hasTexts || measureSharpness(scores) >= min_sharpness) return { first, model: trained, scores }
  const model = learnWeightsOfMany(comparer, records, list, random, undefined)
  return { first, model, scores: computePairScores(comparer, compared, model) }
}

/** Computes the mean probability of the expected matches, by scores in natural log-odds; 1 without any. */
function measureSharpness(scores: Float64Array): number {
  let [expected, squares] = [0, 0]
  for (const probability of computeProbabilities(scores)) {
    expected += probability
    squares += probability * probability
  }
  return expected === 0 ? 1 : squares / expected
}

/** Creates the model before training: u from random pairs, m from typical shapes. */
export function createUntrainedModel({ rows }: LensRecords, comparer: PairComparer, random: () => number): MatchModel {
  const lambda = (0.25 * rows) / ((rows * (rows - 1)) / 2)
  return createInitialModel(comparer, drawPairs(comparer, rows, random), lambda)
}
