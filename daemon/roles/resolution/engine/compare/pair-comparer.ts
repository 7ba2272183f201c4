// Compares two records field by field; the outcome of each field is one number, so that equal patterns of outcomes can
// be counted.

import type { ComparisonLevel } from '../../lens/comparison.ts'
import type { FieldType } from '../../lens/model.ts'
import type { DictionaryColumn } from '../text/dictionary.ts'
import { createLensLevels } from './lens-levels.ts'
import { createMeasure } from './measures.ts'
import { buildRowTable, type RowTable } from './row-table.ts'
import { createTypeLevels, type LevelClassifier } from './type-levels.ts'

/** A field as the engine sees it: its type and each row's value in normal form. */
export type FieldColumn = {
  readonly name: string
  readonly type: FieldType
  readonly column: DictionaryColumn
  /** Levels between equal and different, where they are not those of the type. */
  readonly levels?: readonly ComparisonLevel[] | undefined
  /** Letters per q-gram. */
  readonly q?: number
  /** Whether an equal rare value weighs more than an equal common one; by default the kind of data decides. */
  readonly hasFrequencies?: boolean | undefined
}

/** The number of outcomes of each field; outcome 0 stands for no evidence, `1 + level` for a level. */
export type PairComparer = {
  readonly fields: readonly FieldColumn[]
  readonly table: RowTable
  readonly outcomes: readonly number[]
  /** Numbers of the two fields that may be swapped; the last two outcomes of the first field stand for a swap. */
  readonly swapped?: readonly [number, number]
  /** Weight of a field that one of the two records lacks, in natural logs; never above 0. */
  readonly missing: number
  /**
   * Compares the pairs from one index up to another, field by field, so that the data of one field stays in the
   * processor's cache.
   */
  compare(lefts: Int32Array, rights: Int32Array, from: number, to: number): PairOutcomes
}

/**
 * `of[field * room + pair]` is the outcome of a field of a pair, counted from the first compared pair; `rarity[pair]`
 * is the rarity of the values that both have, in natural logs. Valid until the next comparison.
 */
export type PairOutcomes = { readonly room: number; readonly of: Uint8Array; readonly rarity: Float64Array }

/** Rarity terms of fields whose equal values are weighted by frequency: in natural logs, by value code. */
export type FrequencyTerms = readonly (Float64Array | undefined)[]

/** Batch size whose rows and outcomes fit into the processor's cache. */
export const max_batch_pairs = 1 << 12

/** Outcome of two different values of a field, by code. */
type ValueComparer = (one: number, other: number) => number

export function createPairComparer(
  fields: readonly FieldColumn[],
  swapped?: readonly [number, number],
  missing = 0,
  terms: FrequencyTerms = [],
): PairComparer {
  const table = buildRowTable(fields)
  const made = fields.map((field) => createOutcomes(field))
  const each = made.map(({ ofValues }) => ofValues)
  const swap = swapped && createSwapDetector(fields, swapped, made[swapped[0]]!.count)
  let batch = new PairBatch(table.width, 1)
  return {
    fields,
    table,
    outcomes: made.map(({ count }, field) => count + (field === swapped?.[0] ? 2 : 0)),
    ...(swapped ? { swapped } : {}),
    missing,
    compare(lefts, rights, from, to) {
      if (to - from > batch.room)
        batch = new PairBatch(table.width, Math.max(to - from, Math.min(max_batch_pairs, batch.room * 8)))
      batch.load(table, lefts, rights, from, to)
      for (let field = 0; field < each.length; field++) batch.compare(field, each[field]!, terms[field])
      swap?.(batch)
      return batch
    },
  }
}

/** A batch of pairs: the values of both rows and the outcomes, field by field. */
class PairBatch {
  readonly room: number
  length = 0
  readonly ones: Int32Array
  readonly others: Int32Array
  readonly of: Uint8Array
  readonly rarity: Float64Array

  constructor(width: number, room: number) {
    this.room = room
    this.ones = new Int32Array(room * width)
    this.others = new Int32Array(room * width)
    this.of = new Uint8Array(room * width)
    this.rarity = new Float64Array(room)
  }

  load({ width, values }: RowTable, lefts: Int32Array, rights: Int32Array, from: number, to: number): void {
    const [ones, others, room] = [this.ones, this.others, this.room]
    for (let pair = 0; pair < to - from; pair++) {
      const [a, b] = [lefts[from + pair]! * width, rights[from + pair]! * width]
      for (let field = 0; field < width; field++) {
        ones[field * room + pair] = values[a + field]!
        others[field * room + pair] = values[b + field]!
      }
    }
    this.length = to - from
    this.rarity.fill(0, 0, this.length)
  }

  compare(field: number, ofValues: ValueComparer, terms: Float64Array | undefined): void {
    const [ones, others, of, rarity] = [this.ones, this.others, this.of, this.rarity]
    const from = field * this.room
    for (let pair = 0; pair < this.length; pair++) {
      const one = ones[from + pair]!
      const other = others[from + pair]!
      if (one < 0 || other < 0) of[from + pair] = 0
      else if (one !== other) of[from + pair] = ofValues(one, other)
      else {
        of[from + pair] = 1
        if (terms) rarity[pair]! += terms[one]!
      }
    }
  }
}

function createOutcomes({ type, column, levels: given, q = 2 }: FieldColumn): {
  count: number
  ofValues: ValueComparer
} {
  if (type === 'text' && !given) return createTextOutcomes(column)
  const levels = given ? createLensLevels(column, given, q) : createTypeLevels(type, column)
  return { count: levels.count + 1, ofValues: (one, other) => 1 + levels.levelOf(one, other) }
}

const text_level_count = 11

/** The larger of the cosines of words and of trigrams, cut at .95, .85 and so on down to .05. */
function createTextOutcomes({ dictionary }: DictionaryColumn): { count: number; ofValues: ValueComparer } {
  const cosineOf = createMeasure('tfidf_cosine', dictionary, 0, 0)
  return {
    count: text_level_count + 1,
    ofValues: (one, other) => {
      const alike = cosineOf(one, other)
      return 1 + Math.min(text_level_count - 1, Math.max(0, Math.ceil((0.95 - alike) * 10 - 1e-9)))
    },
  }
}

/**
 * Detects swapped given name and surname: where this explains a pair better than both fields as they stand, the swap is
 * the outcome.
 */
function createSwapDetector(
  fields: readonly FieldColumn[],
  [given, surname]: readonly [number, number],
  extra: number,
) {
  const crossed = createCrossedLevels(fields[given]!.column, fields[surname]!.column)
  const worst = 6
  return ({ ones, others, of, room, length }: PairBatch): void => {
    for (let pair = 0, first = given * room, last = surname * room; pair < length; pair++, first++, last++) {
      const [plainGiven, plainSurname] = [of[first]!, of[last]!]
      if (plainGiven === 1 || plainSurname === 1 || plainGiven + plainSurname < 5) continue
      const across = crossed(ones[first]!, others[last]!)
      const back = crossed(others[first]!, ones[last]!)
      if (across < 0 || back < 0) continue
      const plain = (plainGiven === 0 ? worst : plainGiven) + (plainSurname === 0 ? worst : plainSurname)
      if (plain - (across + back + 2) <= 1 || Math.min(across, back) > 1) continue
      of[first] = extra + (Math.max(across, back) <= 1 ? 0 : 1)
      of[last] = 0
    }
  }
}

/** Level of the given name of one row against the surname of the other; -1 where one is missing. */
function createCrossedLevels(given: DictionaryColumn, surname: DictionaryColumn): ValueComparer {
  const { dictionary: first } = given
  const { dictionary: second } = surname
  const both: DictionaryColumn = { codes: new Int32Array(0), dictionary: joinDictionaries(first, second) }
  const levels: LevelClassifier = createTypeLevels('name', both)
  const { units, starts } = both.dictionary
  return (one, other) => {
    if (one < 0 || other < 0) return -1
    const shifted = first.size + other
    return isSameValue(units, starts, one, shifted) ? 0 : levels.levelOf(one, shifted)
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
