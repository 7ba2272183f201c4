// Links the vectors of two parties by similarity; the linker does not have the key.
import { assignOneToOne } from '../../engine/cluster/one-to-one.ts'
import { createRandom } from '../../engine/random.ts'
import { computeDice, countCommonBits, countVectorBits } from './dice.ts'

export type ClkLinks = {
  /** Rows of the first and of the second party, and their similarity; ascending by rows. */
  readonly pairs: readonly (readonly [left: number, right: number, score: number])[]
  /** Number of comparisons of vectors; a pair counts once for each shared block. */
  readonly compared: number
  /** Number of blocks skipped for their size: pairs that share no other block were not compared. */
  readonly blocks_left_out: number
}

export type ClkLinkOptions = {
  /** Bits of a vector. */
  readonly length: number
  readonly threshold: number
  readonly one_to_one: boolean
  readonly seed: number
}

/** Probability of missing a pair exactly at the threshold; lower for more similar pairs. */
const miss_probability = 0.01
const max_tables = 256
/** A threshold with more links per record than this does not discriminate. */
const max_links_per_record = 50
/** A JavaScript `Map` holds 2^24 entries; a block adds no more than `max_block_pairs`. */
const max_map_entries = 16_000_000
/** Limit of pairs of a block. Only vectors that many records share form larger blocks. */
const max_block_pairs = 250_000

/**
 * Links by locality-sensitive hashing with randomly drawn bits (Indyk and Motwani, 1998; for these vectors Durham,
 * 2012): vectors that agree in all bits of a draw form a block. The threshold and the weights of the vectors determine
 * the number of draws. `report` receives the number of completed draws, and of all. Returns undefined when more than
 * fifty pairs per record reach the threshold.
 */
export function linkVectors(
  left: Uint32Array,
  right: Uint32Array,
  { length, threshold, one_to_one, seed }: ClkLinkOptions,
  report: (done: number, total: number) => void = () => undefined,
): ClkLinks | undefined {
  const words = length / 32
  const [weights, others] = [countVectorBits(left, words), countVectorBits(right, words)]
  const random = createRandom(seed)
  const { bits, tables } = planDraws(threshold, length, weights, others)
  const scores = new Map<number, number>()
  const max_pairs = Math.min(max_map_entries, max_links_per_record * (weights.length + others.length))
  let [compared, left_out] = [0, 0]
  for (let table = 0; table < tables; table++) {
    report(table, tables)
    const draw = Int32Array.from({ length: bits }, () => Math.floor(random() * length))
    for (const [rows, otherRows] of iterateBlocks(left, weights, right, others, words, draw)) {
      if (rows.length * otherRows.length > max_block_pairs) {
        left_out++
        continue
      }
      compared += rows.length * otherRows.length
      for (const row of rows) {
        for (const other of otherRows) {
          const score = computeDice(countCommonBits(left, row, right, other, words), weights[row]!, others[other]!)
          if (score >= threshold) scores.set(row * others.length + other, score)
        }
      }
      if (scores.size > max_pairs) return undefined
    }
  }
  const all = [...scores]
    .sort(([a], [b]) => a - b)
    .map(([pair, score]) => [Math.floor(pair / others.length), pair % others.length, score] as const)
  return {
    pairs: one_to_one ? selectOneToOne(all, weights.length, others.length) : all,
    compared,
    blocks_left_out: left_out,
  }
}

/**
 * Plans enough bits that few pairs collide by chance, and enough tables that a pair at the threshold shares one block.
 */
function planDraws(threshold: number, length: number, weights: Int32Array, others: Int32Array) {
  const count = Math.max(2, weights.length, others.length)
  const bits = Math.min(24, Math.max(6, Math.round(Math.log2(count)) - 1))
  const mean = (sum(weights) + sum(others)) / Math.max(1, weights.length + others.length)
  const agreement = 1 - (2 * (1 - threshold) * mean) / length
  const tables = Math.ceil(Math.log(miss_probability) / Math.log(1 - agreement ** bits))
  return { bits, tables: Math.min(max_tables, Math.max(1, Number.isFinite(tables) ? tables : 1)) }
}

function sum(numbers: Int32Array): number {
  return numbers.reduce((total, number) => total + number, 0)
}

/** Yields rows of both sides that agree in the drawn bits. An empty vector is in no block. */
function* iterateBlocks(
  left: Uint32Array,
  weights: Int32Array,
  right: Uint32Array,
  others: Int32Array,
  words: number,
  draw: Int32Array,
): Generator<readonly [readonly number[], readonly number[]]> {
  const blocks = new Map<number, readonly [number[], number[]]>()
  for (let row = 0; row < weights.length; row++) {
    if (weights[row] === 0) continue
    const key = readDrawnBits(left, row * words, draw)
    const block = blocks.get(key)
    if (block) block[0].push(row)
    else blocks.set(key, [[row], []])
  }
  for (let row = 0; row < others.length; row++) {
    if (others[row] !== 0) blocks.get(readDrawnBits(right, row * words, draw))?.[1].push(row)
  }
  for (const block of blocks.values()) if (block[1].length > 0) yield block
}

function readDrawnBits(vectors: Uint32Array, from: number, draw: Int32Array): number {
  let key = 0
  for (const bit of draw) key = (key << 1) | ((vectors[from + (bit >>> 5)]! >>> (bit & 31)) & 1)
  return key
}

function selectOneToOne(pairs: ClkLinks['pairs'], rows: number, others: number): ClkLinks['pairs'] {
  const lefts = Int32Array.from(pairs, ([row]) => row)
  const rights = Int32Array.from(pairs, ([, other]) => rows + other)
  const scores = Float64Array.from(pairs, ([, , score]) => score)
  const chosen = assignOneToOne(rows + others, { lefts, rights, length: pairs.length }, scores).sort()
  return Array.from(chosen, (pair) => pairs[pair]!)
}
