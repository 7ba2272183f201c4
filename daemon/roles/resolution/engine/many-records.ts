// The variant for many records: candidates from a few agreement rules, and weights estimated with fixed u.
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

/** Largest block of an agreement rule, in rows. */
const max_rule_block_rows = 10
const em_rounds = 4

/** Rows per value of each field, and how many times over each field repeats the evidence of others. */
function estimateOverlaps(compares: PairComparer, { fields }: LensRecords, random: () => number) {
  const sizes = fields.map(({ column }) => countRows(column))
  return { sizes, copies: estimateFieldOverlaps(compares.table, sizes, random) }
}

/** Calls `pair` with each candidate. Returns the overlap of the fields' evidence, which is estimated on the way. */
export function forEachCandidateOfMany(
  compares: PairComparer,
  records: LensRecords,
  { random, report }: { readonly random: () => number; readonly report: EngineProgressListener },
  pair: (a: number, b: number) => void,
): readonly number[] {
  const { sizes, copies } = estimateOverlaps(compares, records, random)
  const rules = chooseRules(compares.table, sizes, copies, random)
  forEachRulePair(
    compares.table,
    rules,
    max_rule_block_rows,
    pair,
    throttleProgress(report, 'compare', rules.length * records.rows),
  )
  return copies
}

/**
 * Candidates agree in one or two fields by construction, and most non-matches among them agree in just those. The
 * frequency of chance agreement is therefore estimated from pairs drawn from all rows, not from candidates.
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
