// Learns the weights of the candidates without labels.
import { type Candidates, hasManyRecords } from './candidates.ts'
import type { PairComparer } from './compare/pair-comparer.ts'
import { drawPairs } from './compare/patterns.ts'
import { learnWeightsOfMany } from './many-records.ts'
import type { LensRecords } from './records/records.ts'
import type { ResolutionContext } from './resolution-context.ts'
import { createInitialModel, type MatchModel, trainModel } from './score/model.ts'
import { computePairScores } from './score/pair-scores.ts'

/** Rounds of expectation-maximisation. */
export const em_rounds = 4

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

/** Learns without competition between the candidates of a record. */
export function learnWithoutCompetition(
  records: LensRecords,
  { random }: ResolutionContext,
  { comparer, list }: Candidates,
): LearntModel {
  const first = createUntrainedModel(records, comparer, random)
  const model = trainModel(first, comparer, list.compared(), em_rounds)
  return { first, model, scores: computePairScores(comparer, list.compared(), model) }
}

/** Creates the model before training: u from random pairs, m from typical shapes. */
export function createUntrainedModel({ rows }: LensRecords, comparer: PairComparer, random: () => number): MatchModel {
  const lambda = (0.25 * rows) / ((rows * (rows - 1)) / 2)
  return createInitialModel(comparer, drawPairs(comparer, rows, random), lambda)
}
