// What is done otherwise for many records: candidates by a few rules, weights learnt beside chance.
import { eachRulePair } from './block/rule-pairs.ts'
import { rulesFor } from './block/rules.ts'
import type { Comparing } from './compare/pairs.ts'
import { drawnPairs, type PairList } from './compare/patterns.ts'
import type { Records } from './records/records.ts'
import { trainedBesideChance } from './score/beside-chance.ts'
import { firstModel, type Model } from './score/model.ts'
import { overlaps } from './score/overlap.ts'
import { countsOf } from './text/dictionary.ts'

/** Rows that a block of a rule may have. */
const cap = 10
const rounds = 4

export function eachOfMany(
  compares: Comparing,
  { fields }: Records,
  random: () => number,
  pair: (a: number, b: number) => void,
): void {
  const sizes = fields.map(({ column }) => countsOf(column))
  eachRulePair(compares.table, rulesFor(compares.table, sizes, random), cap, pair)
}

/**
 * Rules bring pairs together that agree in two fields or one, and so most of what does not match agrees in just those: how
 * often fields agree by chance is not to be learnt from candidates here, but from pairs drawn from all.
 */
export function learntOfMany(compares: Comparing, records: Records, list: PairList, random: () => number): Model {
  const { rows, fields } = records
  const lambda = (0.25 * rows) / ((rows * (rows - 1)) / 2)
  const first = firstModel(compares, drawnPairs(compares, rows, random), lambda)
  const sizes = fields.map(({ column }) => countsOf(column))
  const copies = overlaps(compares.table, sizes, random)
  return trainedBesideChance({ first, comparing: compares, copies, rows }, list.compared(), rounds)
}
