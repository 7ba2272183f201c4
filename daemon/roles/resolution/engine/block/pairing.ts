// Pairs of a blocking rule of a lens, their number, and the omitted blocks.
import { parseExpression } from '../../lens/expression.ts'
import type { FieldColumn } from '../compare/pair-comparer.ts'
import { type DictionaryColumn, decodeText, mapColumn } from '../text/dictionary.ts'
import { createViewFunction } from '../text/views.ts'
import { groupRowsByCode } from './blocks.ts'
import type { BlockingKey } from './keys.ts'

/** A block with too many records to compare all its pairs. */
export type OversizedBlock = { readonly key: string; readonly records: number }

export type RulePairing = {
  readonly name: string
  /** Number of pairs of the rule, including pairs of earlier rules. */
  readonly pairs: number
  readonly blocks: number
  readonly largest: number
  /** Omitted blocks, largest first, limited to a few; `leftOutCount` counts all. */
  readonly leftOut: readonly OversizedBlock[]
  readonly leftOutCount: number
  /** Whether the rule pairs these two rows. */
  has(a: number, b: number): boolean
  /** Calls `pair` once with each pair of the rule, `a` below `b`. */
  each(pair: (a: number, b: number) => void): void
}

/** The records that may be compared; `sources` is set if records of one source may not be compared. */
export type ComparisonScope = { readonly rows: number; readonly sources: Int32Array | undefined }

const max_listed_blocks = 20

/** Pairs records that share all keys, in blocks of at most `max_block`. */
export function pairByKeys(
  keys: readonly string[],
  fields: readonly FieldColumn[],
  scope: ComparisonScope,
  max_block: number,
): RulePairing {
  const columns = keys.map((text) => resolveColumn(text, fields))
  const { codes, sizes } = combineColumns(columns, scope.rows)
  const { from, order } = groupRowsByCode({ codes, sizes })
  const isUsed = (block: number) => sizes[block]! > 1 && sizes[block]! <= max_block
  const tally = tallyBlocks(sizes, isUsed, (block) =>
    countBlockPairs(order.subarray(from[block]!, from[block + 1]!), scope),
  )
  return {
    name: keys.join(' + '),
    ...tally,
    ...listOversizedBlocks(sizes, max_block, (block) => formatKey(columns, order[from[block]!]!)),
    has: (a, b) => codes[a]! >= 0 && codes[a] === codes[b] && isUsed(codes[a]!),
    each(pair) {
      for (let block = 0; block < sizes.length; block++) {
        if (!isUsed(block)) continue
        for (let first = from[block]!; first < from[block + 1]!; first++) {
          for (let second = first + 1; second < from[block + 1]!; second++) {
            if (mayCompare(scope, order[first]!, order[second]!)) pair(order[first]!, order[second]!)
          }
        }
      }
    },
  }
}

export function mayCompare({ sources }: ComparisonScope, a: number, b: number): boolean {
  return sources === undefined || sources[a] !== sources[b]
}

/** Resolves the column of an expression. Throws `RangeError` for an unknown field; rules name only present fields. */
export function resolveColumn(text: string, fields: readonly FieldColumn[]): DictionaryColumn {
  const expression = parseExpression(text)
  if (typeof expression === 'string') throw new RangeError(expression)
  const field = fields.find(({ name }) => name === expression.field)
  if (!field) throw new RangeError(`no field has the name ${expression.field}`)
  return expression.view
    ? mapColumn(field.column, createViewFunction(expression.view, field.names?.phonetics))
    : field.column
}

/** Combines several columns into one code for each row; -1 where a value is missing. */
function combineColumns(columns: readonly DictionaryColumn[], rows: number): Pick<BlockingKey, 'codes' | 'sizes'> {
  let codes = columns[0]!.codes
  let size = columns[0]!.dictionary.size
  for (const { codes: others, dictionary } of columns.slice(1)) {
    const numbers = new Map<number, number>()
    const before = codes
    codes = new Int32Array(rows)
    for (let row = 0; row < rows; row++) {
      if (before[row]! < 0 || others[row]! < 0) {
        codes[row] = -1
        continue
      }
      const combined = before[row]! * dictionary.size + others[row]!
      const number = numbers.get(combined)
      codes[row] = number ?? numbers.size
      if (number === undefined) numbers.set(combined, numbers.size)
    }
    size = numbers.size
  }
  const sizes = new Int32Array(size)
  for (let row = 0; row < rows; row++) if (codes[row]! >= 0) sizes[codes[row]!]!++
  return { codes, sizes }
}

function tallyBlocks(sizes: Int32Array, isUsed: (block: number) => boolean, pairsOf: (block: number) => number) {
  let [pairs, blocks, largest] = [0, 0, 0]
  for (let block = 0; block < sizes.length; block++) {
    if (sizes[block]! > largest) largest = sizes[block]!
    if (!isUsed(block)) continue
    pairs += pairsOf(block)
    blocks++
  }
  return { pairs, blocks, largest }
}

/** Counts the pairs of the rows, without pairs within a source if these may not be compared. */
function countBlockPairs(rows: Int32Array, { sources }: ComparisonScope): number {
  const all = countUnorderedPairs(rows.length)
  if (!sources) return all
  const counts = new Map<number, number>()
  for (const row of rows) counts.set(sources[row]!, (counts.get(sources[row]!) ?? 0) + 1)
  return [...counts.values()].reduce((rest, count) => rest - countUnorderedPairs(count), all)
}

function countUnorderedPairs(count: number): number {
  return (count * (count - 1)) / 2
}

function listOversizedBlocks(sizes: Int32Array, max_block: number, keyOf: (block: number) => string) {
  const blocks: number[] = []
  for (let block = 0; block < sizes.length; block++) if (sizes[block]! > max_block) blocks.push(block)
  const listed = blocks.sort((a, b) => sizes[b]! - sizes[a]! || a - b).slice(0, max_listed_blocks)
  return {
    leftOut: listed.map((block) => ({ key: keyOf(block), records: sizes[block]! })),
    leftOutCount: blocks.length,
  }
}

const max_key_characters = 128

function formatKey(columns: readonly DictionaryColumn[], row: number): string {
  return columns
    .map(({ codes, dictionary }) => decodeText(dictionary, codes[row]!).slice(0, max_key_characters))
    .join(' + ')
}
