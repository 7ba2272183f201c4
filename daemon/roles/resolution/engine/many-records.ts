// What is done otherwise for many records: candidates by a few rules, weights learnt beside chance.
import { chooseRules } from './block/rule-choice.ts'
import { forEachRulePair } from './block/rule-pairs.ts'
import type { PairComparer } from './compare/pair-comparer.ts'
import { drawPairs, type PairList } from './compare/patterns.ts'
import { type EngineProgressListener, throttleProgress } from './progress.ts'
import type { LensRecords } from './records/records.ts'
import { trainWithFixedU } from './score/fixed-u-training.ts'
import { createInitialModel, type MatchModel } from './score/model.ts'
import { estimateFieldOverlaps } from './score/overlap.ts'
import { countRows } from './text/dictionary.ts'

/** Rows that a block of a rule may have. */
const max_rule_block_rows = 10
const em_rounds = 4

/** How many times over each field's evidence is told. */
function estimateOverlaps(compares: PairComparer, { fields }: LensRecords, random: () => number) {
  const sizes = fields.map(({ column }) => countRows(column))
  return { sizes, copies: estimateFieldOverlaps(compares.table, sizes, random) }
}

/** Calls with each candidate; what was learnt of the fields' overlap on the way. */
export function forEachCandidateOfMany(
  compares: PairComparer,
  records: LensRecords,
  { random, tell }: { readonly random: () => number; readonly tell: EngineProgressListener },
  pair: (a: number, b: number) => void,
): readonly number[] {
  const { sizes, copies } = estimateOverlaps(compares, records, random)
  const rules = chooseRules(compares.table, sizes, copies, random)
  forEachRulePair(
    compares.table,
    rules,
    max_rule_block_rows,
    pair,
    throttleProgress(tell, 'compare', rules.length * records.rows),
  )
  return copies
}

/**
 * Rules bring pairs together that agree in two fields or one, and so most of what does not match agrees in just those: how
 * often fields agree by chance is not to be learnt from candidates here, but from pairs drawn from all.
 */
export function learnWeightsOfMany(
  compares: PairComparer,
  records: LensRecords,
  list: PairList,
  random: () => number,
  known: readonly number[] | undefined,
): MatchModel {
  const { rows } = records
  const lambda = (0.25 * rows) / ((rows * (rows - 1)) / 2)
  const first = createInitialModel(compares, drawPairs(compares, rows, random), lambda)
  const copies = known ?? estimateOverlaps(compares, records, random).copies
  return trainWithFixedU({ first, comparing: compares, copies, rows }, list.compared(), em_rounds)
}
