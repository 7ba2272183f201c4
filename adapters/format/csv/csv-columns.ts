// The columns of a block of CSV records: where each value is in the window.
import { type DataBlock, doubleLength, maxBlockRows } from '../../../daemon/kernel/data/data-block.ts'
import type { DataReadOptions } from '../../../daemon/kernel/data/read-options.ts'

const first_capacity = 1 << 10

export class CsvColumns {
  readonly names: readonly string[]
  /** By field; undefined for columns that are not selected. */
  readonly starts: (Int32Array | undefined)[]
  readonly ends: (Int32Array | undefined)[]
  /** Maximum bytes of each field. */
  readonly limits: readonly number[]
  readonly max_rows: number
  #lines: Int32Array | undefined
  #capacity = first_capacity
  rows = 0

  constructor(
    names: readonly string[],
    { isSelected, limits, hasLines, block_rows = Number.POSITIVE_INFINITY }: DataReadOptions,
  ) {
    this.#lines = hasLines ? new Int32Array(first_capacity) : undefined
    this.names = names
    this.limits = names.map((name) => limits.maxFieldBytes(name))
    const create = () => names.map((name) => (isSelected(name) ? new Int32Array(first_capacity) : undefined))
    this.starts = create()
    this.ends = create()
    this.max_rows = Math.min(block_rows, maxBlockRows(this.starts.filter((column) => column !== undefined).length))
  }

  /** Makes room for one more row. */
  reserve(rows: number): void {
    if (rows < this.#capacity) return
    this.#capacity *= 2
    if (this.#lines) this.#lines = doubleLength(this.#lines)
    for (const positions of [this.starts, this.ends])
      for (const [field, column] of positions.entries()) if (column) positions[field] = doubleLength(column)
  }

  /** Adds a row of this line whose fields are at these positions. */
  add(starts: Int32Array, ends: Int32Array, line: number): void {
    if (this.#lines) this.#lines[this.rows] = line
    for (let field = 0; field < this.starts.length; field++) {
      const into = this.starts[field]
      if (!into) continue
      into[this.rows] = starts[field]!
      this.ends[field]![this.rows] = ends[field]!
    }
    this.rows++
    this.reserve(this.rows)
  }

  /** Sets the lines of the rows behind those so far: one line each, from this one on. */
  addLines(rows: number, line: number): void {
    if (!this.#lines) return
    for (let row = this.rows; row < rows; row++) this.#lines[row] = line + row - this.rows
  }

  /** Returns the rows; `bytes` is the window that their positions refer to. */
  block(bytes: Uint8Array): DataBlock {
    const columns = this.names.flatMap((name, field) => {
      const [starts, ends] = [this.starts[field], this.ends[field]]
      return starts && ends ? [{ name, bytes, starts, ends }] : []
    })
    return { rows: this.rows, names: this.names, columns, ...(this.#lines && { lines: this.#lines }) }
  }
}
