// What is done otherwise for many records: candidates by a few rules, weights learnt beside chance.
import { rulesFor } from './block/rule-choice.ts'
import { eachRulePair } from './block/rule-pairs.ts'
import type { Comparing } from './compare/pairs.ts'
import { drawnPairs, type PairList } from './compare/patterns.ts'
import { portions, type Tell } from './progress.ts'
import type { Records } from './records/records.ts'
import { trainedBesideChance } from './score/beside-chance.ts'
import { firstModel, type Model } from './score/model.ts'
import { overlaps } from './score/overlap.ts'
import { countsOf } from './text/dictionary.ts'

/** Rows that a block of a rule may have. */
const cap = 10
const rounds = 4

/** How many times over each field's evidence is told. */
function copiesOf(compares: Comparing, { fields }: Records, random: () => number) {
  const sizes = fields.map(({ column }) => countsOf(column))
  return { sizes, copies: overlaps(compares.table, sizes, random) }
}

/** Calls with each candidate; what was learnt of the fields' overlap on the way. */
export function eachOfMany(
  compares: Comparing,
  records: Records,
  { random, tell }: { readonly random: () => number; readonly tell: Tell },
  pair: (a: number, b: number) => void,
): readonly number[] {
  const { sizes, copies } = copiesOf(compares, records, random)
  const rules = rulesFor(compares.table, sizes, copies, random)
  eachRulePair(compares.table, rules, cap, pair, portions(tell, 'compare', rules.length * records.rows))
  return copies
}

/**
 * Rules bring pairs together that agree in two fields or one, and so most of what does not match agrees in just those: how
 * often fields agree by chance is not to be learnt from candidates here, but from pairs drawn from all.
 */
export function learntOfMany(
  compares: Comparing,
  records: Records,
  list: PairList,
  random: () => number,
  known: readonly number[] | undefined,
): Model {
  const { rows } = records
  const lambda = (0.25 * rows) / ((rows * (rows - 1)) / 2)
  const first = firstModel(compares, drawnPairs(compares, rows, random), lambda)
  const copies = known ?? copiesOf(compares, records, random).copies
  return trainedBesideChance({ first, comparing: compares, copies, rows }, list.compared(), rounds)
}
