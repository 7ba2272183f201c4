// The columns of a block of CSV records: where each value is in the window.
import { type DataBlock, doubleLength, maxBlockRows } from '../../../daemon/kernel/data/data-block.ts'
import type { DataReadOptions } from '../../../daemon/kernel/data/read-options.ts'

type CsvColumn = { readonly name: string; starts: Int32Array; ends: Int32Array }

const first_capacity = 1 << 10

export class CsvColumns {
  readonly names: readonly string[]
  /** By field; undefined for columns that are not selected. */
  readonly columns: readonly (CsvColumn | undefined)[]
  /** Maximum bytes of each field. */
  readonly limits: readonly number[]
  readonly max_rows: number
  #lines: Int32Array | undefined
  #capacity = first_capacity
  rows = 0

  constructor(names: readonly string[], { isSelected, limits, hasLines }: DataReadOptions) {
    this.#lines = hasLines ? new Int32Array(first_capacity) : undefined
    this.names = names
    this.limits = names.map((name) => limits.maxFieldBytes(name))
    const create = () => new Int32Array(first_capacity)
    this.columns = names.map((name) => (isSelected(name) ? { name, starts: create(), ends: create() } : undefined))
    this.max_rows = maxBlockRows(this.columns.filter((column) => column !== undefined).length)
  }

  /** Makes room for one more row. */
  reserve(rows: number): void {
    if (rows < this.#capacity) return
    this.#capacity *= 2
    if (this.#lines) this.#lines = doubleLength(this.#lines)
    for (const column of this.columns) {
      if (!column) continue
      column.starts = doubleLength(column.starts)
      column.ends = doubleLength(column.ends)
    }
  }

  /** Adds a row of this line whose fields are at these positions. */
  add(starts: Int32Array, ends: Int32Array, line: number): void {
    if (this.#lines) this.#lines[this.rows] = line
    for (const [field, column] of this.columns.entries()) {
      if (!column) continue
      column.starts[this.rows] = starts[field]!
      column.ends[this.rows] = ends[field]!
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
    const selected = this.columns.filter((column) => column !== undefined)
    const columns = selected.map(({ name, starts, ends }) => ({ name, bytes, starts, ends }))
    return { rows: this.rows, names: this.names, columns, ...(this.#lines && { lines: this.#lines }) }
  }
}
