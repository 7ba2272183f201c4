// Blocks: groups of rows that share one or two keys. Every pair within a block is a candidate, visited once.
import type { BlockingKey } from './keys.ts'

/**
 * Rows of all blocks in sequence, ascending within each; block `b` has the rows from `starts[b]` to `starts[b + 1]`.
 */
export type RowBlocks = {
  readonly starts: Uint32Array
  readonly rows: Int32Array
  /** Number of the rule of each block, as `blockRule` computes it. */
  readonly ruleOf: Int32Array
}

/** Numbers the blocks of a key of `count` keys, and those of two keys. Numbers begin at 1. */
export function blockRule(count: number, key: number, other = key): number {
  return 1 + key * count + other
}

/** A growable list of integers. */
class GrowableIntArray {
  #values = new Int32Array(1 << 16)
  length = 0

  push(value: number): void {
    if (this.length === this.#values.length) {
      const wider = new Int32Array(this.#values.length * 2)
      wider.set(this.#values)
      this.#values = wider
    }
    this.#values[this.length++] = value
  }

  finish(): Int32Array {
    return this.#values.slice(0, this.length)
  }
}

class RowBlockBuilder {
  readonly #starts = new GrowableIntArray()
  readonly #rows = new GrowableIntArray()
  readonly #ruleOf = new GrowableIntArray()

  open(rule: number): void {
    this.#starts.push(this.#rows.length)
    this.#ruleOf.push(rule)
  }

  add(row: number): void {
    this.#rows.push(row)
  }

  get memberships(): number {
    return this.#rows.length
  }

  finish(): RowBlocks {
    this.#starts.push(this.#rows.length)
    return { starts: Uint32Array.from(this.#starts.finish()), rows: this.#rows.finish(), ruleOf: this.#ruleOf.finish() }
  }
}

/** Groups rows by block, ascending: block `b` has the rows from `order[from[b]]` to `order[from[b + 1]]`. */
export function groupRowsByCode({ codes, sizes }: Pick<BlockingKey, 'codes' | 'sizes'>): {
  from: Uint32Array
  order: Int32Array
} {
  const from = new Uint32Array(sizes.length + 1)
  for (let block = 0; block < sizes.length; block++) from[block + 1] = from[block]! + sizes[block]!
  const next = from.slice()
  const order = new Int32Array(from[sizes.length]!)
  for (let row = 0; row < codes.length; row++) {
    const block = codes[row]!
    if (block >= 0) order[next[block]!++] = row
  }
  return { from, order }
}

/**
 * Builds blocks of one key with 2 to `cap` rows, and blocks of two keys of different fields if each alone exceeds
 * `cap`: values that are too common alone may be selective together.
 */
export function buildBlocks(keys: readonly BlockingKey[], cap: number): RowBlocks {
  const builder = new RowBlockBuilder()
  for (const [index, key] of keys.entries()) {
    const { from, order } = groupRowsByCode(key)
    const rule = blockRule(keys.length, index)
    const others = [...keys.entries()].slice(index + 1).filter(([, { field }]) => field !== key.field)
    for (let block = 0; block < key.sizes.length; block++) {
      const rows = order.subarray(from[block]!, from[block + 1]!)
      if (rows.length < 2) continue
      if (rows.length <= cap) addBlock(rows, rule, builder)
      else for (const [at, other] of others) splitBlock(other, blockRule(keys.length, index, at), rows, cap, builder)
    }
  }
  return builder.finish()
}

function addBlock(rows: Int32Array, rule: number, builder: RowBlockBuilder): void {
  builder.open(rule)
  for (let at = 0; at < rows.length; at++) builder.add(rows[at]!)
}

/** Splits a block by another key, for values of that key that exceed `cap` as well. */
function splitBlock(
  { codes, sizes }: BlockingKey,
  rule: number,
  rows: Int32Array,
  cap: number,
  builder: RowBlockBuilder,
): void {
  const parts = borrowScratch(sizes.length)
  const { counts, places } = parts
  const touched: number[] = []
  for (let at = 0; at < rows.length; at++) {
    const code = codes[rows[at]!]!
    if (code < 0 || sizes[code]! <= cap) continue
    if (counts[code]!++ === 0) touched.push(code)
  }
  const blocks: number[][] = []
  for (const code of touched) {
    const count = counts[code]!
    counts[code] = 0
    if (count < 2 || count > cap) continue
    blocks.push([])
    places[code] = blocks.length
  }
  if (blocks.length > 0) {
    for (let at = 0; at < rows.length; at++) {
      const code = codes[rows[at]!]!
      if (code >= 0 && places[code]! > 0) blocks[places[code]! - 1]!.push(rows[at]!)
    }
  }
  for (const code of touched) places[code] = 0
  for (const part of blocks) {
    builder.open(rule)
    for (const row of part) builder.add(row)
  }
}

let scratch = { counts: new Int32Array(0), places: new Int32Array(0) }

/** Scratch space per block of a key, all zero; every user leaves it zeroed. */
function borrowScratch(size: number) {
  if (scratch.counts.length < size) scratch = { counts: new Int32Array(size), places: new Int32Array(size) }
  return scratch
}

/**
 * Calls `pair` once with each pair, `a` below `b`, all pairs of one `a` together. A block of `s` rows adds 1 / (s - 1)
 * to the evidence of each of its pairs; a pair with less than `min_evidence` in total is skipped. `extra` lists further
 * rows for a row, which are paired regardless of their blocks. `rule`: the rule of the smallest block of the pair; 0 for
 * a pair that only `extra` lists.
 */
export function forEachPair(
  rows: number,
  blocks: RowBlocks,
  min_evidence: number,
  extra: ((row: number) => readonly number[]) | undefined,
  pair: (a: number, b: number, rule: number) => void,
): void {
  const { from, blocksOfRow } = indexBlocksByRow(rows, blocks)
  const evidence = new Float64Array(rows)
  const touched = new Int32Array(rows)
  const smallest = new Int32Array(rows)
  const { starts, rows: members, ruleOf } = blocks
  const sizeOf = (block: number) => starts[block + 1]! - starts[block]!
  for (let a = 0; a < rows; a++) {
    let count = 0
    for (let at = from[a]!; at < from[a + 1]!; at++) {
      const block = blocksOfRow[at]!
      const end = starts[block + 1]!
      const weight = 1 / (sizeOf(block) - 1)
      for (let index = end - 1; members[index]! > a; index--) {
        const b = members[index]!
        if (evidence[b] === 0) {
          touched[count++] = b
          smallest[b] = block
        } else if (sizeOf(block) < sizeOf(smallest[b]!)) smallest[b] = block
        evidence[b]! += weight
      }
    }
    for (const b of extra?.(a) ?? []) {
      if (evidence[b] === 0) touched[count++] = b
      if (evidence[b]! < min_evidence || evidence[b] === 0) smallest[b] = -1
      evidence[b] = 1
    }
    for (let at = 0; at < count; at++) {
      const b = touched[at]!
      if (evidence[b]! >= min_evidence) pair(a, b, smallest[b]! < 0 ? 0 : ruleOf[smallest[b]!]!)
      evidence[b] = 0
    }
  }
}

function indexBlocksByRow(rows: number, blocks: RowBlocks): { from: Uint32Array; blocksOfRow: Int32Array } {
  const from = new Uint32Array(rows + 1)
  for (let at = 0; at < blocks.rows.length; at++) from[blocks.rows[at]! + 1]!++
  for (let row = 0; row < rows; row++) from[row + 1]! += from[row]!
  const next = from.slice()
  const blocksOfRow = new Int32Array(blocks.rows.length)
  for (let block = 0; block + 1 < blocks.starts.length; block++) {
    for (let at = blocks.starts[block]!; at < blocks.starts[block + 1]!; at++) {
      blocksOfRow[next[blocks.rows[at]!]!++] = block
    }
  }
  return { from, blocksOfRow }
}
