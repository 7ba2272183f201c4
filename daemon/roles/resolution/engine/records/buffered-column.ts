// A column that buffers the positions of values and numbers them in batches, so that the processor's cache holds one
// value table at a time.
import { ValueTable } from './value-table.ts'

/** A column while it is read: for each row the number of its value, -1 for an empty value. */
export class BufferedColumn {
  readonly values = new ValueTable()
  #codes = new Int32Array(1 << 10)
  #rows = 0
  #starts = new Int32Array(1 << 10)
  #ends = new Int32Array(1 << 10)
  #buffered = 0

  /** Buffers the position of the next row's value until `flush`. */
  buffer(from: number, to: number): void {
    const at = this.#buffered++
    if (at === this.#starts.length) {
      this.#starts = doubleArray(this.#starts)
      this.#ends = doubleArray(this.#ends)
    }
    this.#starts[at] = from
    this.#ends[at] = to
  }

  /** Numbers all buffered values, which must be in these bytes. */
  flush(bytes: Uint8Array): void {
    const [starts, ends, values] = [this.#starts, this.#ends, this.values]
    while (this.#rows + this.#buffered > this.#codes.length) this.#codes = doubleArray(this.#codes)
    const codes = this.#codes
    let row = this.#rows
    for (let at = 0; at < this.#buffered; at++, row++) {
      const from = starts[at]!
      const to = ends[at]!
      codes[row] = from === to ? -1 : values.add(bytes, from, to)
    }
    this.#rows = row
    this.#buffered = 0
  }

  /** Adds the next row's value immediately; no value may be buffered. */
  add(bytes: Uint8Array, from: number, to: number): void {
    if (this.#rows === this.#codes.length) this.#codes = doubleArray(this.#codes)
    this.#codes[this.#rows++] = from === to ? -1 : this.values.add(bytes, from, to)
  }

  /** Returns the codes of the first `rows` rows and frees the table; nothing may be added afterwards. */
  finish(rows: number): Int32Array {
    this.values.close()
    return this.#codes.subarray(0, rows)
  }
}

function doubleArray(values: Int32Array): Int32Array<ArrayBuffer> {
  const wider = new Int32Array(values.length * 2)
  wider.set(values)
  return wider
}
