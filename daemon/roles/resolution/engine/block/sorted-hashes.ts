// Rows sorted by a hash, so that equal hashes are adjacent without random memory access.

const digit_bits = 11
const radix = 1 << digit_bits
const pass_count = 3

/** Reusable buffers for a radix sort of a fixed number of rows. */
export class SortedHashes {
  #hashes: Int32Array
  #rows: Int32Array
  #otherHashes: Int32Array
  #otherRows: Int32Array
  #length = 0
  readonly #counts = new Int32Array(radix * pass_count)

  constructor(rows: number) {
    this.#hashes = new Int32Array(rows)
    this.#rows = new Int32Array(rows)
    this.#otherHashes = new Int32Array(rows)
    this.#otherRows = new Int32Array(rows)
  }

  clear(): void {
    this.#length = 0
    this.#counts.fill(0)
  }

  add(row: number, hash: number): void {
    const at = this.#length++
    this.#hashes[at] = hash
    this.#rows[at] = row
    for (let pass = 0; pass < pass_count; pass++) this.#counts[pass * radix + extractDigit(hash, pass)]!++
  }

  /** Sorts stably: equal hashes keep their order of insertion. */
  sort(): void {
    for (let pass = 0; pass < pass_count; pass++) {
      const counts = this.#counts.subarray(pass * radix, (pass + 1) * radix)
      for (let digit = 0, from = 0; digit < radix; digit++) {
        const count = counts[digit]!
        counts[digit] = from
        from += count
      }
      this.#move(pass, counts)
    }
  }

  #move(pass: number, next: Int32Array): void {
    const [hashes, rows, toHashes, toRows] = [this.#hashes, this.#rows, this.#otherHashes, this.#otherRows]
    for (let at = 0; at < this.#length; at++) {
      const hash = hashes[at]!
      const to = next[extractDigit(hash, pass)]!++
      toHashes[to] = hash
      toRows[to] = rows[at]!
    }
    this.#hashes = toHashes
    this.#rows = toRows
    this.#otherHashes = hashes
    this.#otherRows = rows
  }

  /** Calls `run` for each hash that two or more rows share, with the rows from `rows[from]` to `rows[to]`. */
  forEachRun(run: (rows: Int32Array, from: number, to: number) => void): void {
    const hashes = this.#hashes
    for (let from = 0, to = 1; from < this.#length; from = to++) {
      while (to < this.#length && hashes[to] === hashes[from]) to++
      if (to - from > 1) run(this.#rows, from, to)
    }
  }
}

function extractDigit(hash: number, pass: number): number {
  return (hash >>> (pass * digit_bits)) & (radix - 1)
}
