// Blocking rules of a lens: the pairs of each rule, their number, and the blocks that it left out.
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
  /** Number of pairs of the rule, those of earlier rules included. */
  readonly pairs: number
  readonly blocks: number
  readonly largest: number
  /** The largest omitted blocks first, and the number of all of them. */
  readonly leftOut: readonly OversizedBlock[]
  readonly leftOutCount: number
  /** Whether the rule pairs these two rows. */
  has(a: number, b: number): boolean
  /** Calls `pair` once with each of its pairs, `a` below `b`. */
  each(pair: (a: number, b: number) => void): void
}

/** Which records may be compared; `sources` is set where those of one source may not. */
export type ComparisonScope = { readonly rows: number; readonly sources: Int32Array | undefined }

const max_listed_blocks = 20

/** Records that share all keys, in blocks of at most `max_block`. */
export function pairByKeys(
  keys: readonly string[],
  fields: readonly FieldColumn[],
  sides: ComparisonScope,
  max_block: number,
): RulePairing {
  const columns = keys.map((text) => resolveColumn(text, fields))
  const { codes, sizes } = combineColumns(columns, sides.rows)
  const { from, order } = groupRowsByCode({ codes, sizes })
  const isKept = (block: number) => sizes[block]! > 1 && sizes[block]! <= max_block
  const tally = tallyBlocks(sizes, isKept, (block) =>
    countBlockPairs(order.subarray(from[block]!, from[block + 1]!), sides),
  )
  return {
    name: keys.join(' + '),
    ...tally,
    ...listOversizedBlocks(sizes, max_block, (block) => formatKey(columns, order[from[block]!]!)),
    has: (a, b) => codes[a]! >= 0 && codes[a] === codes[b] && isKept(codes[a]!),
    each(pair) {
      for (let block = 0; block < sizes.length; block++) {
        if (!isKept(block)) continue
        for (let one = from[block]!; one < from[block + 1]!; one++) {
          for (let other = one + 1; other < from[block + 1]!; other++) {
            if (mayCompare(sides, order[one]!, order[other]!)) pair(order[one]!, order[other]!)
          }
        }
      }
    },
  }
}

export function mayCompare({ sources }: ComparisonScope, a: number, b: number): boolean {
  return sources === undefined || sources[a] !== sources[b]
}

/** The column of an expression; every field that a rule names is present. */
export function resolveColumn(text: string, fields: readonly FieldColumn[]): DictionaryColumn {
  const read = parseExpression(text)
  if (typeof read === 'string') throw new RangeError(read)
  const field = fields.find(({ name }) => name === read.field)
  if (!field) throw new RangeError(`no field is called ${read.field}`)
  return read.view ? mapColumn(field.column, createViewFunction(read.view)) : field.column
}

/** One code for the combination of several columns; -1 where a value is missing. */
function combineColumns(columns: readonly DictionaryColumn[], rows: number): Pick<BlockingKey, 'codes' | 'sizes'> {
  let codes = columns[0]!.codes
  let size = columns[0]!.dictionary.size
  for (const { codes: others, dictionary } of columns.slice(1)) {
    const numbers = new Map<number, number>()
    const mine = codes
    codes = new Int32Array(rows)
    for (let row = 0; row < rows; row++) {
      if (mine[row]! < 0 || others[row]! < 0) {
        codes[row] = -1
        continue
      }
      const both = mine[row]! * dictionary.size + others[row]!
      const known = numbers.get(both)
      codes[row] = known ?? numbers.size
      if (known === undefined) numbers.set(both, numbers.size)
    }
    size = numbers.size
  }
  const sizes = new Int32Array(size)
  for (let row = 0; row < rows; row++) if (codes[row]! >= 0) sizes[codes[row]!]!++
  return { codes, sizes }
}

function tallyBlocks(sizes: Int32Array, isKept: (block: number) => boolean, pairsOf: (block: number) => number) {
  let [pairs, blocks, largest] = [0, 0, 0]
  for (let block = 0; block < sizes.length; block++) {
    if (sizes[block]! > largest) largest = sizes[block]!
    if (!isKept(block)) continue
    pairs += pairsOf(block)
    blocks++
  }
  return { pairs, blocks, largest }
}

/** All pairs of the rows, less those within a source where these may not be compared. */
function countBlockPairs(rows: Int32Array, { sources }: ComparisonScope): number {
  const all = countUnorderedPairs(rows.length)
  if (!sources) return all
  const counts = new Map<number, number>()
  for (const row of rows) counts.set(sources[row]!, (counts.get(sources[row]!) ?? 0) + 1)
  return [...counts.values()].reduce((left, count) => left - countUnorderedPairs(count), all)
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
