// Rows of a data file by columns: what readers return and writers take, whatever the format.
import type { ValueType } from './data-schema.ts'

/**
 * A column of a block: the values of its rows as UTF-8 in one buffer, which columns may share. The value of row `r` is
 * `bytes[starts[r]]` to `bytes[ends[r]]`; a missing value has -1 for both. The arrays may be longer than the block.
 */
export type TextColumn = {
  readonly name: string
  readonly bytes: Uint8Array
  readonly starts: Int32Array
  readonly ends: Int32Array
  /** What the file states about the values; absent where the format states nothing. */
  readonly stated?: ValueType
}

/** Consecutive rows. Buffers are reused: a block is valid until the next one is requested. */
export type DataBlock = {
  readonly rows: number
  /** Names of all columns found so far, selected or not, in the order of the file. JSON lines may add some in each block. */
  readonly names: readonly string[]
  /** The selected columns. */
  readonly columns: readonly TextColumn[]
  /** The line at which each row begins, from 1, where the reading has them and the format has lines. */
  readonly lines?: Int32Array | undefined
}

/** Blocks in order, at least one: a file without rows has a block of its columns. */
export type DataBlocks = AsyncIterable<DataBlock>

/** Values of all columns that a block has at most, 8 bytes each besides their text. */
const max_block_values = 2_097_152

/** Returns the maximum number of rows of a block with so many columns. */
export function maxBlockRows(columns: number): number {
  return Math.max(1, Math.floor(max_block_values / Math.max(1, columns)))
}

/** Collects the values of a column, row by row. */
export class TextColumnBuilder {
  readonly name: string
  #bytes = new Uint8Array(1 << 10)
  #length = 0
  #starts = new Int32Array(1 << 8)
  #ends = new Int32Array(1 << 8)
  #rows = 0
  readonly #encoder = new TextEncoder()

  constructor(name: string) {
    this.name = name
  }

  get rows(): number {
    return this.#rows
  }

  /** Bytes of all values. */
  get length(): number {
    return this.#length
  }

  /** Adds the next row's value, as text or as UTF-8. */
  add(value: string | Uint8Array | undefined): void {
    if (value === undefined) {
      this.#push(-1, -1)
      return
    }
    const start = this.#length
    this.#reserve(typeof value === 'string' ? value.length * 3 : value.length)
    if (typeof value === 'string') this.#length += this.#encoder.encodeInto(value, this.#bytes.subarray(start)).written
    else {
      this.#bytes.set(value, start)
      this.#length += value.length
    }
    this.#push(start, this.#length)
  }

  /** Adds a range of bytes as the value of this row; the rows between are missing. */
  addRange(row: number, bytes: Uint8Array, start: number, end: number): void {
    if (this.#rows < row) this.skipTo(row)
    const length = end - start
    this.#reserve(length)
    const into = this.#length
    if (length > 48) this.#bytes.set(bytes.subarray(start, end), into)
    else for (let at = 0; at < length; at++) this.#bytes[into + at] = bytes[start + at]!
    this.#length += length
    this.#push(into, this.#length)
  }

  /** Adds the value of an earlier row again; its bytes are shared. */
  repeat(row: number): void {
    this.#push(this.#starts[row] ?? -1, this.#ends[row] ?? -1)
  }

  /** Adds missing values up to this number of rows. */
  skipTo(rows: number): void {
    while (this.#rows < rows) this.#push(-1, -1)
  }

  #reserve(bytes: number): void {
    if (this.#length + bytes <= this.#bytes.length) return
    const wider = new Uint8Array((this.#length + bytes) * 2)
    wider.set(this.#bytes.subarray(0, this.#length))
    this.#bytes = wider
  }

  #push(start: number, end: number): void {
    if (this.#rows === this.#starts.length) {
      this.#starts = doubleLength(this.#starts)
      this.#ends = doubleLength(this.#ends)
    }
    this.#starts[this.#rows] = start
    this.#ends[this.#rows++] = end
  }

  /** Returns the column; the builder shares its buffers until `clear`. */
  column(): TextColumn {
    return { name: this.name, bytes: this.#bytes, starts: this.#starts, ends: this.#ends }
  }

  /** Removes all rows. */
  clear(): void {
    this.#rows = 0
    this.#length = 0
  }
}

/** Numbers rows, the first one by `first`. */
export function numberRows(first: number, rows: number): Int32Array {
  const numbers = new Int32Array(rows)
  for (let row = 0; row < rows; row++) numbers[row] = first + row
  return numbers
}

/** Returns the same values with as much room again. */
export function doubleLength(values: Int32Array): Int32Array<ArrayBuffer> {
  const wider = new Int32Array(values.length * 2)
  wider.set(values)
  return wider
}
