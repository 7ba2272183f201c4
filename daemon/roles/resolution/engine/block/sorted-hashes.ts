// Rows in the order of a hash: what is equal lies side by side, and nothing is looked up all over the memory.

const digit_bits = 11
const digits = 1 << digit_bits
const passes = 3

/** Room for sorting so many rows again and again. */
export class SortedHashes {
  #hashes: Int32Array
  #rows: Int32Array
  #otherHashes: Int32Array
  #otherRows: Int32Array
  #length = 0
  readonly #counts = new Int32Array(digits * passes)

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
    for (let pass = 0; pass < passes; pass++) this.#counts[pass * digits + digitOf(hash, pass)]!++
  }

  /** Equal hashes keep the order in which they came. */
  sort(): void {
    for (let pass = 0; pass < passes; pass++) {
      const counts = this.#counts.subarray(pass * digits, (pass + 1) * digits)
      for (let digit = 0, from = 0; digit < digits; digit++) {
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
      const to = next[digitOf(hash, pass)]!++
      toHashes[to] = hash
      toRows[to] = rows[at]!
    }
    this.#hashes = toHashes
    this.#rows = toRows
    this.#otherHashes = hashes
    this.#otherRows = rows
  }

  /** Calls with the rows of each hash that two or more have: `rows[from]` to `rows[to]`. */
  eachRun(run: (rows: Int32Array, from: number, to: number) => void): void {
    const hashes = this.#hashes
    for (let from = 0, to = 1; from < this.#length; from = to++) {
      while (to < this.#length && hashes[to] === hashes[from]) to++
      if (to - from > 1) run(this.#rows, from, to)
    }
  }
}

function digitOf(hash: number, pass: number): number {
  return (hash >>> (pass * digit_bits)) & (digits - 1)
}
