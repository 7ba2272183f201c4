// Compares two records field by field; the outcome of each field is one number, so that equal patterns of outcomes can
// be counted.

import type { ComparisonLevel } from '../../lens/comparison.ts'
import type { FieldType } from '../../lens/model.ts'
import type { NameOptions } from '../../lens/phonetics.ts'
import type { DictionaryColumn } from '../text/dictionary.ts'
import { capValues } from './cap-values.ts'
import { buildRowTable, type RowTable } from './row-table.ts'
import { createScriptLevels } from './script-levels.ts'
import type { LevelClassifier } from './type-levels.ts'

/** A field of the engine: its type, and the normalised value of each row. */
export type FieldColumn = {
  readonly name: string
  readonly type: FieldType
  readonly column: DictionaryColumn
  /** Levels between equal and different; undefined for the built-in levels of the type. */
  readonly levels?: readonly ComparisonLevel[] | undefined
  /** Letters per q-gram. */
  readonly q?: number
  /** How names are compared and blocked; without it as `defaultNameOptions` says. */
  readonly names?: NameOptions | undefined
  /** Whether an equal rare value weighs more than an equal common value; by default the kind of data decides. */
  readonly hasFrequencies?: boolean | undefined
}

/** Compares pairs of rows. Outcome 0 of a field means no evidence, and outcome `1 + level` a level. */
export type PairComparer = {
  readonly fields: readonly FieldColumn[]
  readonly table: RowTable
  /** Number of outcomes of each field. */
  readonly outcomes: readonly number[]
  /** Numbers of the two fields that may be swapped; the last two outcomes of the first field stand for a swap. */
  readonly swapped?: readonly [number, number]
  /** Weight of a field that one of the two records lacks, in natural logs; at most 0. */
  readonly missing: number
  /**
   * Compares the pairs with indexes `from` to `to`, field by field, so that the data of one field stays in the
   * processor's cache.
   */
  compare(lefts: Int32Array, rights: Int32Array, from: number, to: number): PairOutcomes
}

/**
 * `values[field * room + pair]` is the outcome of a field of a pair, counted from the first compared pair;
 * `rarity[pair]` is the rarity of the shared values, in natural logs. Valid until the next comparison.
 */
export type PairOutcomes = { readonly room: number; readonly values: Uint8Array; readonly rarity: Float64Array }

/** Rarity terms of fields whose equal values are weighted by frequency: in natural logs, by value code. */
export type FrequencyTerms = readonly (Float64Array | undefined)[]

/** Batch size whose rows and outcomes fit into the processor's cache. */
export const max_batch_pairs = 1 << 12

/** Computes the outcome of two different values of a field, by code. */
type ValueComparer = (left: number, right: number) => number

export function createPairComparer(
  fields: readonly FieldColumn[],
  swapped?: readonly [number, number],
  missing = 0,
  terms: FrequencyTerms = [],
): PairComparer {
  const table = buildRowTable(fields)
  const comparisons = fields.map((field) => createFieldComparison(field))
  const swap = swapped && createSwapDetector(fields, swapped, comparisons[swapped[0]]!.count)
  let batch = new PairBatch(table.width, 1)
  return {
    fields,
    table,
    outcomes: comparisons.map(({ count }, field) => count + (field === swapped?.[0] ? 2 : 0)),
    ...(swapped ? { swapped } : {}),
    missing,
    compare(lefts, rights, from, to) {
      if (to - from > batch.room)
        batch = new PairBatch(table.width, Math.max(to - from, Math.min(max_batch_pairs, batch.room * 8)))
      batch.load(table, lefts, rights, from, to)
      for (const [field, { compareValues }] of comparisons.entries()) batch.compare(field, compareValues, terms[field])
      swap?.(batch)
      return batch
    },
  }
}

/** A batch of pairs: the value codes of both rows and the outcomes, field by field. */
class PairBatch {
  readonly room: number
  length = 0
  readonly lefts: Int32Array
  readonly rights: Int32Array
  readonly values: Uint8Array
  readonly rarity: Float64Array

  constructor(width: number, room: number) {
    this.room = room
    this.lefts = new Int32Array(room * width)
    this.rights = new Int32Array(room * width)
    this.values = new Uint8Array(room * width)
    this.rarity = new Float64Array(room)
  }

  load({ width, values }: RowTable, leftRows: Int32Array, rightRows: Int32Array, from: number, to: number): void {
    const { lefts, rights, room } = this
    for (let pair = 0; pair < to - from; pair++) {
      const [a, b] = [leftRows[from + pair]! * width, rightRows[from + pair]! * width]
      for (let field = 0; field < width; field++) {
        lefts[field * room + pair] = values[a + field]!
        rights[field * room + pair] = values[b + field]!
      }
    }
    this.length = to - from
    this.rarity.fill(0, 0, this.length)
  }

  compare(field: number, compareValues: ValueComparer, terms: Float64Array | undefined): void {
    const { lefts, rights, values, rarity } = this
    const from = field * this.room
    for (let pair = 0; pair < this.length; pair++) {
      const left = lefts[from + pair]!
      const right = rights[from + pair]!
      if (left < 0 || right < 0) values[from + pair] = 0
      else if (left !== right) values[from + pair] = compareValues(left, right)
      else {
        values[from + pair] = 1
        if (terms) rarity[pair]! += terms[left]!
      }
    }
  }
}

type FieldComparison = { readonly count: number; readonly compareValues: ValueComparer }

function createFieldComparison({ column: wholeColumn, ...field }: FieldColumn): FieldComparison {
  const column = { ...wholeColumn, dictionary: capValues(wholeColumn.dictionary) }
  const levels = createScriptLevels(column, field)
  return { count: levels.count + 1, compareValues: (left, right) => 1 + levels.levelOf(left, right) }
}

/**
 * Detects swapped given name and surname: if a swap explains a pair better than both fields in order, the outcome is
 * the swap.
 */
function createSwapDetector(
  fields: readonly FieldColumn[],
  [givenName, surname]: readonly [number, number],
  firstSwapOutcome: number,
) {
  const crossed = createCrossedLevels(fields[givenName]!, fields[surname]!)
  const worst = 6
  return ({ lefts, rights, values, room, length }: PairBatch): void => {
    for (let pair = 0, first = givenName * room, last = surname * room; pair < length; pair++, first++, last++) {
      const [givenOutcome, surnameOutcome] = [values[first]!, values[last]!]
      if (givenOutcome === 1 || surnameOutcome === 1 || givenOutcome + surnameOutcome < 5) continue
      const forward = crossed(lefts[first]!, rights[last]!)
      const backward = crossed(rights[first]!, lefts[last]!)
      if (forward < 0 || backward < 0) continue
      const inOrder = (givenOutcome === 0 ? worst : givenOutcome) + (surnameOutcome === 0 ? worst : surnameOutcome)
      if (inOrder - (forward + backward + 2) <= 1 || Math.min(forward, backward) > 1) continue
      values[first] = firstSwapOutcome + (Math.max(forward, backward) <= 1 ? 0 : 1)
      values[last] = 0
    }
  }
}

/** Compares the given name of one row with the surname of the other; -1 if one is missing. */
function createCrossedLevels(givenName: FieldColumn, surname: FieldColumn): ValueComparer {
  const [first, second] = [capValues(givenName.column.dictionary), capValues(surname.column.dictionary)]
  const both: DictionaryColumn = { codes: new Int32Array(0), dictionary: joinDictionaries(first, second) }
  const levels: LevelClassifier = createScriptLevels(both, { type: 'name', names: givenName.names })
  const { units, starts } = both.dictionary
  return (givenCode, surnameCode) => {
    if (givenCode < 0 || surnameCode < 0) return -1
    const shifted = first.size + surnameCode
    return isSameValue(units, starts, givenCode, shifted) ? 0 : levels.levelOf(givenCode, shifted)
  }
}

function joinDictionaries(
  first: DictionaryColumn['dictionary'],
  second: DictionaryColumn['dictionary'],
): DictionaryColumn['dictionary'] {
  const units = new Uint16Array(first.units.length + second.units.length)
  units.set(first.units)
  units.set(second.units, first.units.length)
  const starts = new Uint32Array(first.size + second.size + 1)
  starts.set(first.starts)
  for (let code = 0; code <= second.size; code++) starts[first.size + code] = first.units.length + second.starts[code]!
  return { size: first.size + second.size, units, starts }
}

function isSameValue(units: Uint16Array, starts: Uint32Array, a: number, b: number): boolean {
  const length = starts[a + 1]! - starts[a]!
  if (length !== starts[b + 1]! - starts[b]!) return false
  for (let at = 0; at < length; at++) if (units[starts[a]! + at] !== units[starts[b]! + at]) return false
  return true
}
