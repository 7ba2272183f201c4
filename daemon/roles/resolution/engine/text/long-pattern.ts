// Edit distance of values longer than a word: the bit-parallel recurrence in blocks of 32 letters.

const block_bits = 32

/**
 * A value prepared for comparison. The cost of a distance is the letters of the other value times the blocks of this
 * one, and ends as soon as the distance is certainly above its maximum. After Hyyrö, "A bit-vector algorithm for
 * computing Levenshtein and Damerau edit distances", 2003.
 */
export class LongPattern {
  /** Row of each letter of the prepared value in `#positions`, counted from 1. */
  readonly #rowOf: Uint16Array
  /** Positions of each letter as bits: block `b` of row `r` is at `r * blocks + b`; row 0 is of absent letters. */
  #positions = new Int32Array(0)
  #above = new Int32Array(0)
  #below = new Int32Array(0)
  #diagonal = new Int32Array(0)
  #letters: Uint16Array = new Uint16Array(0)
  #blocks = 0

  /** `letter_count`: letters are numbers below it. */
  constructor(letter_count: number) {
    this.#rowOf = new Uint16Array(letter_count)
  }

  prepare(letters: Uint16Array): void {
    for (const letter of this.#letters) this.#rowOf[letter] = 0
    this.#letters = letters
    let rows = 1
    for (const letter of letters) if (this.#rowOf[letter] === 0) this.#rowOf[letter] = rows++
    this.#blocks = Math.ceil(letters.length / block_bits)
    const blocks = this.#blocks
    if (this.#positions.length < rows * blocks) this.#positions = new Int32Array(rows * blocks * 2)
    else this.#positions.fill(0, 0, rows * blocks)
    if (this.#above.length < blocks) {
      this.#above = new Int32Array(blocks * 2)
      this.#below = new Int32Array(blocks * 2)
      this.#diagonal = new Int32Array(blocks * 2)
    }
    for (let at = 0; at < letters.length; at++) {
      this.#positions[this.#rowOf[letters[at]!]! * blocks + (at >>> 5)]! |= 1 << (at & 31)
    }
  }

  /**
   * Computes the distance to another value; `max_distance + 1` for every distance above `max_distance`. `swaps`: all bits
   * set if a swap of neighbours is one edit, none if it is two.
   */
  distance(others: Uint16Array, max_distance: number, swaps: number): number {
    const blocks = this.#blocks
    this.#above.fill(-1, 0, blocks)
    this.#below.fill(0, 0, blocks)
    this.#diagonal.fill(0, 0, blocks)
    let distance = this.#letters.length
    let before = 0
    for (let at = 0; at < others.length; at++) {
      // Each letter that remains lowers the distance by one at most.
      if (distance - (others.length - at) > max_distance) return max_distance + 1
      const row = this.#rowOf[others[at]!]! * blocks
      distance += this.#advance(row, before, swaps)
      before = row
    }
    return distance > max_distance ? max_distance + 1 : distance
  }

  /** Computes the next column, and returns the change of its last cell. */
  #advance(row: number, before: number, swaps: number): number {
    const [blocks, positions] = [this.#blocks, this.#positions]
    const [above, below, diagonal] = [this.#above, this.#below, this.#diagonal]
    const last = 1 << ((this.#letters.length - 1) & 31)
    let [rightCarry, leftCarry, swapCarry] = [1, 0, 0]
    let change = 0
    for (let block = 0; block < blocks; block++) {
      const same = positions[row + block]!
      const [up, down] = [above[block]!, below[block]!]
      const candidates = ~diagonal[block]! & same
      const swapped = ((candidates << 1) | swapCarry) & positions[before + block]! & swaps
      swapCarry = candidates >>> 31
      const start = same | leftCarry
      const diagonalNow = ((((start & up) + up) | 0) ^ up) | start | down | swapped
      let right = down | ~(diagonalNow | up)
      let left = diagonalNow & up
      if (block === blocks - 1) change = (right & last ? 1 : 0) - (left & last ? 1 : 0)
      const [nextRight, nextLeft] = [right >>> 31, left >>> 31]
      right = (right << 1) | rightCarry
      left = (left << 1) | leftCarry
      rightCarry = nextRight
      leftCarry = nextLeft
      above[block] = left | ~(diagonalNow | right)
      below[block] = right & diagonalNow
      diagonal[block] = diagonalNow
    }
    return change
  }
}
