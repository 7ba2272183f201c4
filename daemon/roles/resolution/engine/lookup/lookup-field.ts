// A field of an index of records: the value of each row by number, and how often each value occurs.
import { grown, TextTable } from './text-table.ts'

/** `total` and `squares`: the sum of the counts of values, and of their squares. */
export class LookupField {
  readonly texts = new TextTable()
  #codes = new Int32Array(0)
  #counts = new Uint32Array(0)
  total = 0
  squares = 0

  get bytes(): number {
    return this.texts.bytes + this.#codes.byteLength + this.#counts.byteLength
  }

  /** Returns the number of the value of a row; -1 without one. */
  codeOf(row: number): number {
    return row < this.#codes.length ? this.#codes[row]! - 1 : -1
  }

  set(row: number, code: number): void {
    if (row >= this.#codes.length) {
      if (code < 0) return
      this.#codes = grown(this.#codes, row + 1)
    }
    this.#codes[row] = code + 1
  }

  count(code: number, by: 1 | -1): void {
    if (code >= this.#counts.length) this.#counts = grown(this.#counts, code + 1)
    const before = this.#counts[code]!
    const after = before + by
    this.#counts[code] = after
    this.total += by
    this.squares += after * after - before * before
  }

  countOf(code: number): number {
    return code >= 0 && code < this.#counts.length ? this.#counts[code]! : 0
  }
}
