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
export const max_rule_block_rows = 10
const em_rounds = 4

/** Counts the rows per value of each field, and estimates how often each field repeats the evidence of others. */
function estimateOverlaps(comparer: PairComparer, { fields }: LensRecords, random: () => number) {
  const sizes = fields.map(({ column }) => countRows(column))
  return { sizes, copies: estimateFieldOverlaps(comparer.table, sizes, random) }
}

/**
 * Calls `pair` with each candidate and the 1-based number of its rule. Returns the names of the rules, and the overlap
 * of the fields' evidence, which is estimated for the rules.
 */
export function forEachCandidateOfMany(
  comparer: PairComparer,
  records: LensRecords,
  { random, report }: { readonly random: () => number; readonly report: EngineProgressListener },
  pair: (a: number, b: number, rule: number) => void,
): { readonly copies: readonly number[]; readonly names: readonly string[] } {
  const { sizes, copies } = estimateOverlaps(comparer, records, random)
  const rules = chooseRules(comparer.table, sizes, copies, random)
  forEachRulePair(
    comparer.table,
    rules,
    max_rule_block_rows,
    pair,
    throttleProgress(report, 'compare', rules.length * records.rows),
  )
  return { copies, names: rules.map((rule) => rule.map((field) => records.fields[field]?.name).join(' + ')) }
}

/**
 * Estimates the weights. Candidates agree in one or two fields by construction, and most non-matches among them agree
 * only in those. The frequency of chance agreement is therefore estimated from random pairs of all rows.
 */
export function learnWeightsOfMany(
  comparer: PairComparer,
  records: LensRecords,
  list: PairList,
  random: () => number,
  overlaps: readonly number[] | undefined,
): MatchModel {
  const { rows } = records
  const lambda = (0.25 * rows) / ((rows * (rows - 1)) / 2)
  const initial = createInitialModel(comparer, drawPairs(comparer, rows, random), lambda)
  const copies = overlaps ?? estimateOverlaps(comparer, records, random).copies
  return trainWithFixedU({ initial, comparer, copies, rows }, list.compared(), em_rounds)
}
