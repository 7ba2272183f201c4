// Finds who is who among records of which any number may be one: candidates, weights learnt from them, clusters by average link.
import type { Lens } from '../lens/model.ts'
import { type Blocks, blocksOf, eachPair } from './block/blocks.ts'
import { keyCount, keysOf } from './block/keys.ts'
import { mayMeet, type Sides } from './block/pairing.ts'
import { eachRuled, sidesOf } from './block/ruled.ts'
import { clustersOf, type Found, type Settings } from './clusters.ts'
import { type Comparing, comparing } from './compare/pairs.ts'
import { type Compared, PairList } from './compare/patterns.ts'
import { began, portions, type Tell } from './progress.ts'
import type { Records } from './records/records.ts'
import { textsOf } from './records/texts.ts'
import { givenModel } from './score/given.ts'
import { firstModel, type Model, trained } from './score/model.ts'
import { pairScores } from './score/pair-scores.ts'
import { most_rows_for_neighbours, neighboursOf, trigrams, vectorsOf } from './text/vectors.ts'

export const forPersons: Settings = { cap: 60, neighbours: 10, lowest: -4, highest: 4, cut: -2, hasFrequencies: true }
export const forTexts: Settings = { cap: 30, neighbours: 15, lowest: -8, highest: 8, cut: 0, hasFrequencies: false }

const random_pairs = 100_000
/** Rows that are looked at for all pairs of keys: about a second. */
const most_visits = 20_000_000
const cap_of_many = 5
/** Of expectation and maximisation. */
export const rounds = 4
/** Of what the blocks of a pair say together: a shared block of nine, or more of larger ones. */
const least_said = 0.125

export type Given = {
  readonly settings: Settings
  readonly random: () => number
  readonly swapped: readonly [number, number] | undefined
  readonly tell: Tell
}

/** Throws `LensFault` for rules that this data cannot be blocked by. */
export function resolveClusters(lens: Lens, records: Records, given: Given): Found {
  const { settings, tell } = given
  const { rows } = records
  const { compares, list, add, rules } = gathered(lens, records, given)
  began(tell, 'train')
  const learn = () => trained(untrained(lens, records, compares, given.random), compares, list.compared(), rounds)
  const model = givenModel(lens, compares) ?? learn()
  began(tell, 'cluster')
  const rating = { compares, rows, hasFrequencies: settings.hasFrequencies && !lens.fields[0]?.weights }
  const scores = pairScores(rating, list.compared(), model)
  const found = clustersOf({ lens, records, rating, list, add, settings, model, scores })
  return { compares, model, rules, ...found, compared: list.compared() }
}

/** All candidates, compared. Throws `LensFault`. */
export function gathered(lens: Lens, records: Records, { settings, swapped, tell }: Omit<Given, 'random'>) {
  const { rows } = records
  const compares = comparing(records.fields, swapped, 0 - lens.null_penalty * Math.LN2)
  const list = new PairList(compares)
  const add = adding(sidesOf(lens, records), list)
  began(tell, 'candidates')
  const rules = eachRuled(lens, records, add)
  if (!rules) {
    const blocks = blocksFor(records, settings.cap)
    const extra = rows < most_rows_for_neighbours ? neighbourRows(records, settings.neighbours) : undefined
    const compared = portions(tell, 'compare', rows)
    eachPair(rows, blocks, least_said, extra, (a, b) => {
      compared(a)
      add(a, b)
    })
  }
  return { compares, list, add, rules: rules ?? [] }
}

/** Before any learning: what pairs are like that were drawn at random, and what a match is like by experience. */
export function untrained(lens: Lens, records: Records, compares: Comparing, random: () => number): Model {
  const { rows } = records
  const lambda = (0.25 * rows) / ((rows * (rows - 1)) / 2)
  return firstModel(compares, drawn(lens, compares, records, random), lambda)
}

/** Takes pairs of records that may be compared at all. */
function adding(sides: Sides, list: PairList): (a: number, b: number) => void {
  if (!sides.sources) return (a, b) => list.add(a, b)
  return (a, b) => {
    if (mayMeet(sides, a, b)) list.add(a, b)
  }
}

/** Where there are many records, whole values are enough to tell most apart, and all keys of all fields too many. */
function blocksFor({ fields, rows }: Records, cap: number): Blocks {
  const counts = fields.map(({ type }) => keyCount(type))
  const all = counts.reduce((sum, count) => sum + count, 0)
  const key_pairs = (all * all - counts.reduce((sum, count) => sum + count * count, 0)) / 2
  const isNarrow = rows * key_pairs > most_visits
  const keys = fields.flatMap(({ type, column }, field) => keysOf(type, column, field, isNarrow))
  return blocksOf(keys, isNarrow ? cap_of_many : cap)
}

/** Pairs drawn evenly from all there are. */
function drawn(lens: Lens, compares: Comparing, records: Records, random: () => number): Compared {
  const { rows } = records
  const list = new PairList(compares)
  const add = adding(sidesOf(lens, records), list)
  for (let at = 0; at < random_pairs; at++) {
    const a = Math.floor(random() * rows)
    const b = Math.floor(random() * rows)
    if (a !== b) add(a, b)
  }
  return list.compared()
}

/** Each row's nearest, both ways: what one finds, the other is found by. */
function neighbourRows(records: Records, k: number): (row: number) => readonly number[] {
  const { found } = neighboursOf(vectorsOf(textsOf(records), trigrams), k)
  const others: number[][] = Array.from({ length: records.rows }, () => [])
  for (let row = 0; row < records.rows; row++) {
    for (const other of found.subarray(row * k, (row + 1) * k)) {
      if (other > row) others[row]!.push(other)
      else if (other >= 0) others[other]!.push(row)
    }
  }
  return (row) => others[row]!
}
