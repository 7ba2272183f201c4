// Pairs of neighbouring records: in an order of keys, or by the similarity of their texts.
import type { FieldColumn } from '../compare/pair-comparer.ts'
import { LensFault } from '../records/records.ts'
import { joinRecordTexts } from '../records/texts.ts'
import { type DictionaryColumn, decodeText } from '../text/dictionary.ts'
import { findNearestNeighbours, type NearestNeighbours } from '../text/nearest-neighbours.ts'
import { buildTfidfVectors } from '../text/tfidf-vectors.ts'
import { createTrigramTokeniser } from '../text/tokeniser.ts'
import { type ComparisonScope, mayCompare, type RulePairing, resolveColumn } from './pairing.ts'

/**
 * Pairs each record with the `window - 1` records that follow it in the order of its keys, except records without the
 * first key. Hernández and Stolfo, "The Merge/Purge Problem for Large Databases", 1995.
 */
export function pairSortedNeighbours(
  keys: readonly string[],
  window: number,
  fields: readonly FieldColumn[],
  scope: ComparisonScope,
): RulePairing {
  const order = sortRows(
    keys.map((text) => resolveColumn(text, fields)),
    scope.rows,
  )
  const positions = new Int32Array(scope.rows).fill(-window)
  for (const [position, row] of order.entries()) positions[row] = position
  const visitPairs = (pair: (a: number, b: number) => void) => {
    for (let from = 0; from < order.length; from++) {
      const end = Math.min(order.length, from + window)
      for (let to = from + 1; to < end; to++) {
        const [a, b] = [order[from]!, order[to]!]
        if (mayCompare(scope, a, b)) pair(Math.min(a, b), Math.max(a, b))
      }
    }
  }
  return {
    name: `${window} in a row by ${keys.join(', ')}`,
    ...countPairs(visitPairs, Math.min(window, order.length)),
    has: (a, b) => positions[a]! >= 0 && positions[b]! >= 0 && Math.abs(positions[a]! - positions[b]!) < window,
    each: visitPairs,
  }
}

/** Sorts the rows that have the first key by all keys in turn, then by row. */
function sortRows(columns: readonly DictionaryColumn[], rows: number): Int32Array {
  const ranks = columns.map(rankValues)
  const first = ranks[0]!
  const sorted = Int32Array.from({ length: rows }, (_, row) => row).filter((row) => first[row]! >= 0)
  return sorted.sort((a, b) => {
    for (const rank of ranks) if (rank[a] !== rank[b]) return rank[a]! - rank[b]!
    return a - b
  })
}

/** Computes the rank of each row's value in text order; -1 for a missing value. */
function rankValues({ codes, dictionary }: DictionaryColumn): Int32Array {
  const texts = Array.from({ length: dictionary.size }, (_, code) => decodeText(dictionary, code))
  const sorted = texts.map((_, code) => code).sort((a, b) => (texts[a]! < texts[b]! ? -1 : 1))
  const ranks = new Int32Array(dictionary.size)
  for (const [rank, code] of sorted.entries()) ranks[code] = rank
  return codes.map((code) => (code < 0 ? -1 : ranks[code]!))
}

/** Limit of records, since every pair is compared: a minute at this size. */
const max_rows = 100_000

/**
 * Pairs each record with the `k` most similar records by the cosine of trigrams; only across sources if records of one
 * source may not be compared. Throws `LensFault`.
 */
export function pairNearestTexts(
  fieldNames: readonly string[] | undefined,
  k: number,
  fields: readonly FieldColumn[],
  scope: ComparisonScope,
): RulePairing {
  const columns = fieldNames ? fields.filter(({ name }) => fieldNames.includes(name)) : fields
  const { rows, sources } = scope
  if (rows > max_rows)
    throw new LensFault(
      `neighbours by words are limited to ${max_rows} records; the data has ${rows}: use other blocking rules`,
    )
  const texts = joinRecordTexts(
    { rows, sources: new Int32Array(rows), fields: columns },
    undefined,
    fieldNames !== undefined,
  )
  const isTwo = sources?.every((source) => source < 2)
  const near = findNearestNeighbours(buildTfidfVectors(texts, createTrigramTokeniser()), k, isTwo ? sources : undefined)
  const lists = (a: number, b: number) => near.neighbours.subarray(a * k, (a + 1) * k).includes(b)
  const visitPairs = (pair: (a: number, b: number) => void) =>
    forEachNeighbour(near, rows, lists, (a, b) => mayCompare(scope, a, b) && pair(a, b))
  return {
    name: `${k} nearest by ${fieldNames?.join(', ') ?? 'all texts'}`,
    ...countPairs(visitPairs, k + 1),
    has: (a, b) => lists(a, b) || lists(b, a),
    each: visitPairs,
  }
}

function forEachNeighbour(
  { k, neighbours }: NearestNeighbours,
  rows: number,
  lists: (a: number, b: number) => boolean,
  pair: (a: number, b: number) => void,
): void {
  for (let row = 0; row < rows; row++) {
    for (const other of neighbours.subarray(row * k, (row + 1) * k)) {
      if (other < 0 || (other < row && lists(other, row))) continue
      pair(Math.min(row, other), Math.max(row, other))
    }
  }
}

function countPairs(visitPairs: (pair: (a: number, b: number) => void) => void, largest: number) {
  let pairs = 0
  visitPairs(() => pairs++)
  return { pairs, blocks: 0, largest, leftOut: [], leftOutCount: 0 }
}
