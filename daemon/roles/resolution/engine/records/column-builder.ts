// Builds a column of a source from texts, in any order of rows.
import type { RawColumn } from './csv.ts'
import { ValueTable } from './value-table.ts'

export class ColumnBuilder {
  readonly #values = new ValueTable()
  readonly #name: string
  #codes = new Int32Array(1 << 10).fill(-1)
  #buffer = new Uint8Array(1 << 10)
  readonly #encoder = new TextEncoder()

  constructor(name: string) {
    this.#name = name
  }

  /** Sets the value of a row, as text or as UTF-8 bytes; a row without a value, or with an empty one, has none. */
  set(row: number, value: string | Uint8Array): void {
    if (row >= this.#codes.length) this.#widen(row)
    const length = typeof value === 'string' ? this.#write(value) : value.length
    const bytes = typeof value === 'string' ? this.#buffer : value
    this.#codes[row] = length === 0 ? -1 : this.#values.add(bytes, 0, length)
  }

  #write(text: string): number {
    if (text.length * 3 > this.#buffer.length) this.#buffer = new Uint8Array(text.length * 4)
    return this.#encoder.encodeInto(text, this.#buffer).written
  }

  #widen(row: number): void {
    const wider = new Int32Array(Math.max(row + 1, this.#codes.length * 2)).fill(-1)
    wider.set(this.#codes)
    this.#codes = wider
  }

  finish(rows: number): RawColumn {
    if (rows > this.#codes.length) this.#widen(rows - 1)
    return { name: this.#name, values: this.#values, codes: this.#codes.subarray(0, rows) }
  }
}
