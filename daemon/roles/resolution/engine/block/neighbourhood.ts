// Pairs of neighbouring records: in an order of keys, or by the similarity of their texts.
import type { FieldColumn } from '../compare/pair-comparer.ts'
import { LensFault } from '../records/records.ts'
import { joinRecordTexts } from '../records/texts.ts'
import { type DictionaryColumn, decodeText } from '../text/dictionary.ts'
import { buildTfidfVectors, findNearestNeighbours, type NearestNeighbours } from '../text/tfidf-vectors.ts'
import { createTrigramTokeniser } from '../text/tokeniser.ts'
import { type ComparisonScope, mayCompare, type RulePairing, resolveColumn } from './pairing.ts'

/**
 * Each record with the `window - 1` that follow it in the order of its keys; records without the first key have no
 * place. Hernández and Stolfo, "The Merge/Purge Problem for Large Databases", 1995.
 */
export function pairSortedNeighbours(
  by: readonly string[],
  window: number,
  fields: readonly FieldColumn[],
  sides: ComparisonScope,
): RulePairing {
  const order = sortRows(
    by.map((text) => resolveColumn(text, fields)),
    sides.rows,
  )
  const places = new Int32Array(sides.rows).fill(-window)
  for (const [place, row] of order.entries()) places[row] = place
  const each = (pair: (a: number, b: number) => void) => {
    for (let one = 0; one < order.length; one++) {
      const end = Math.min(order.length, one + window)
      for (let other = one + 1; other < end; other++) {
        const [a, b] = [order[one]!, order[other]!]
        if (mayCompare(sides, a, b)) pair(Math.min(a, b), Math.max(a, b))
      }
    }
  }
  return {
    name: `${window} in a row by ${by.join(', ')}`,
    ...countPairs(each, Math.min(window, order.length)),
    has: (a, b) => places[a]! >= 0 && places[b]! >= 0 && Math.abs(places[a]! - places[b]!) < window,
    each,
  }
}

/** Rows that have the first key, sorted by the keys in turn; equal ones by row. */
function sortRows(columns: readonly DictionaryColumn[], rows: number): Int32Array {
  const ranks = columns.map(rankValues)
  const first = ranks[0]!
  const placed = Int32Array.from({ length: rows }, (_, row) => row).filter((row) => first[row]! >= 0)
  return placed.sort((a, b) => {
    for (const rank of ranks) if (rank[a] !== rank[b]) return rank[a]! - rank[b]!
    return a - b
  })
}

/** Rank of each row's value in text order; -1 for a missing value. */
function rankValues({ codes, dictionary }: DictionaryColumn): Int32Array {
  const texts = Array.from({ length: dictionary.size }, (_, code) => decodeText(dictionary, code))
  const sorted = texts.map((_, code) => code).sort((a, b) => (texts[a]! < texts[b]! ? -1 : 1))
  const ranks = new Int32Array(dictionary.size)
  for (const [rank, code] of sorted.entries()) ranks[code] = rank
  return codes.map((code) => (code < 0 ? -1 : ranks[code]!))
}

/** Every record is compared with every other, which takes a minute at this size. */
const max_rows = 100_000

/**
 * Pairs each record with the `k` most similar by the cosine of trigrams; only across sources where records of one
 * source may not be compared. Throws `LensFault`.
 */
export function pairNearestTexts(
  fieldNames: readonly string[] | undefined,
  k: number,
  fields: readonly FieldColumn[],
  sides: ComparisonScope,
): RulePairing {
  const columns = fieldNames ? fields.filter(({ name }) => fieldNames.includes(name)) : fields
  const { rows, sources } = sides
  if (rows > max_rows) throw new LensFault(`neighbours by words are for ${max_rows} records at most; there are ${rows}`)
  const texts = joinRecordTexts(
    { rows, sources: new Int32Array(rows), fields: columns },
    undefined,
    fieldNames !== undefined,
  )
  const isTwo = sources?.every((source) => source < 2)
  const near = findNearestNeighbours(buildTfidfVectors(texts, createTrigramTokeniser()), k, isTwo ? sources : undefined)
  const lists = (a: number, b: number) => near.found.subarray(a * k, (a + 1) * k).includes(b)
  const each = (pair: (a: number, b: number) => void) =>
    forEachNeighbour(near, rows, lists, (a, b) => mayCompare(sides, a, b) && pair(a, b))
  return {
    name: `${k} nearest by ${fieldNames?.join(', ') ?? 'all texts'}`,
    ...countPairs(each, k + 1),
    has: (a, b) => lists(a, b) || lists(b, a),
    each,
  }
}

function forEachNeighbour(
  { k, found }: NearestNeighbours,
  rows: number,
  lists: (a: number, b: number) => boolean,
  pair: (a: number, b: number) => void,
): void {
  for (let row = 0; row < rows; row++) {
    for (const other of found.subarray(row * k, (row + 1) * k)) {
      if (other < 0 || (other < row && lists(other, row))) continue
      pair(Math.min(row, other), Math.max(row, other))
    }
  }
}

function countPairs(each: (pair: (a: number, b: number) => void) => void, largest: number) {
  let pairs = 0
  each(() => pairs++)
  return { pairs, blocks: 0, largest, leftOut: [], leftOutCount: 0 }
}
