// Finds who is who among records of which any number may be one: candidates, weights learnt from them, clusters by average link.
import type { Lens } from '../lens/model.ts'
import { blocksOf, eachPair } from './block/blocks.ts'
import { keyCount, keysOf } from './block/keys.ts'
import { mayMeet, type Sides } from './block/pairing.ts'
import { eachRuled, type RuleReport, sidesOf } from './block/ruled.ts'
import { boundsGiven, grouped } from './cluster/clustered.ts'
import { type Comparing, comparing } from './compare/pairs.ts'
import { type Compared, drawnPairs, PairList } from './compare/patterns.ts'
import { completed } from './completed.ts'
import { began, portions, type Tell } from './progress.ts'
import type { Records } from './records/records.ts'
import { textsOf } from './records/texts.ts'
import { eachOfMany, learntOfMany } from './resolve-many.ts'
import { givenModel } from './score/given.ts'
import { firstModel, type Model, trained } from './score/model.ts'
import { frequencyTerms, pairScores } from './score/pair-scores.ts'
import { trigrams } from './text/parts.ts'
import { most_rows_for_neighbours, neighboursOf, vectorsOf } from './text/vectors.ts'

/** What differs between kinds of data. */
export type Settings = {
  /** Rows that a block may have. */
  readonly cap: number
  /** Most alike records that each is compared with besides. */
  readonly neighbours: number
  /** Scores count within these bounds alone, and clusters join while their mean is above the cut. */
  readonly lowest: number
  readonly highest: number
  readonly cut: number
  readonly hasFrequencies: boolean
}

export const forPersons: Settings = { cap: 60, neighbours: 10, lowest: -4, highest: 4, cut: -2, hasFrequencies: true }
export const forTexts: Settings = { cap: 30, neighbours: 15, lowest: -8, highest: 8, cut: 0, hasFrequencies: false }

/** Rows that are looked at for all pairs of keys: about a second. */
const most_visits = 20_000_000
/** Of expectation and maximisation. */
export const rounds = 4
/** Of what the blocks of a pair say together: a shared block of nine, or more of larger ones. */
const least_said = 0.125
const most_completions = 3

/** `clusters`: any number of records may be one. `links`: two sources that hold each thing once. */
export type Route = 'clusters' | 'links'

export type Found = {
  readonly route: Route
  /** Most clusters have two records, so that none supports another. */
  readonly areFew: boolean
  readonly clusters: Int32Array
  readonly compared: Compared
  /** Of each compared pair, in natural logs of odds. */
  readonly scores: Float64Array
  /** Where, among these scores, records become one; and what says nothing at all. */
  readonly cut: number
  readonly floor: number
  /** How fields are compared, and what was learnt or given of them. */
  readonly compares: Comparing
  readonly model: Model
  /** What the blocking rules of the lens brought together; none where it gave none. */
  readonly rules: readonly RuleReport[]
}

export type Given = {
  readonly lens: Lens
  readonly settings: Settings
  readonly random: () => number
  readonly swapped: readonly [number, number] | undefined
  readonly tell: Tell
}

/** Throws `LensFault` for rules that this data cannot be blocked by. */
export function resolveClusters(records: Records, given: Given): Found {
  const { lens, tell } = given
  const { rows } = records
  const { compares, list, add, rules, copies } = gathered(records, given)
  began(tell, 'train')
  const weighed = givenModel(lens, compares)
  const model = weighed ?? learnt(records, compares, list, given, copies)
  began(tell, 'cluster')
  const settings = boundsGiven(lens, given.settings) ?? given.settings
  const scores = pairScores(compares, list.compared(), model)
  const { isFinal, ...found } = grouped(lens, records, list.compared(), scores, given.settings, tell)
  const common = { compares, rules, model }
  if (isFinal) return { ...common, ...found, compared: list.compared() }
  const isMany = areMany(records)
  const { isFinal: _, ...whole } = completed(
    { compares, rows, list, add, settings, model },
    { ...found, isFinal },
    {
      most: isMany ? 1 : most_completions,
      isLearning: settings.hasFrequencies && !weighed && !isMany,
      tell,
    },
  )
  return { ...common, ...whole, compared: list.compared() }
}

/** All candidates, compared. Throws `LensFault`. */
export function gathered(records: Records, { lens, settings, random, swapped, tell }: Given) {
  const { rows, fields } = records
  const terms = frequencyTerms(fields, rows, settings.hasFrequencies && !lens.fields[0]?.weights)
  const compares = comparing(fields, swapped, 0 - lens.null_penalty * Math.LN2, terms)
  const list = new PairList(compares)
  const add = adding(sidesOf(lens, records), list)
  began(tell, 'candidates')
  const rules = eachRuled(lens, records, tell, add)
  if (rules) return { compares, list, add, rules }
  if (areMany(records)) {
    const copies = eachOfMany(compares, records, { random, tell }, add)
    return { compares, list, add, rules: [], copies }
  }
  const keys = fields.flatMap(({ type, column }, field) => keysOf(type, column, field))
  const blocks = blocksOf(keys, settings.cap)
  const extra = rows < most_rows_for_neighbours ? neighbourRows(records, settings.neighbours) : undefined
  const compared = portions(tell, 'compare', rows)
  eachPair(rows, blocks, least_said, extra, (a, b) => {
    compared(a)
    add(a, b)
  })
  return { compares, list, add, rules: [] }
}

/** Takes pairs of records that may be compared at all. */
function adding(sides: Sides, list: PairList): (a: number, b: number) => void {
  if (!sides.sources) return (a, b) => list.add(a, b)
  return (a, b) => {
    if (mayMeet(sides, a, b)) list.add(a, b)
  }
}

function learnt(
  records: Records,
  compares: Comparing,
  list: PairList,
  { random }: Given,
  copies: readonly number[] | undefined,
): Model {
  if (areMany(records)) return learntOfMany(compares, records, list, random, copies)
  return trained(untrained(records, compares, random), compares, list.compared(), rounds)
}

/** Before any learning: what pairs are like that were drawn at random, and what a match is like by experience. */
export function untrained({ rows }: Records, compares: Comparing, random: () => number): Model {
  const lambda = (0.25 * rows) / ((rows * (rows - 1)) / 2)
  return firstModel(compares, drawnPairs(compares, rows, random), lambda)
}

/** All keys of all fields are too many where there are many records; a few rules tell most apart there. */
function areMany({ fields, rows }: Records): boolean {
  const counts = fields.map(({ type }) => keyCount(type))
  const all = counts.reduce((sum, count) => sum + count, 0)
  const key_pairs = (all * all - counts.reduce((sum, count) => sum + count * count, 0)) / 2
  return rows * key_pairs > most_visits
}

/** Each row's nearest, both ways: what one finds, the other is found by. */
function neighbourRows(records: Records, k: number): (row: number) => readonly number[] {
  const { found } = neighboursOf(vectorsOf(textsOf(records), trigrams()), k)
  const others: number[][] = Array.from({ length: records.rows }, () => [])
  for (let row = 0; row < records.rows; row++) {
    for (const other of found.subarray(row * k, (row + 1) * k)) {
      if (other > row) others[row]!.push(other)
      else if (other >= 0) others[other]!.push(row)
    }
  }
  return (row) => others[row]!
}
