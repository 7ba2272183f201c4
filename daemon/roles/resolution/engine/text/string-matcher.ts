// Edit distance and Jaro-Winkler similarity of two values of a dictionary, bit-parallel.
import { popCount } from '../pop-count.ts'
import type { Dictionary } from './dictionary.ts'
import { LongPattern } from './long-pattern.ts'

const word_bits = 32
const min_letters = 64

/** The number of each code unit while letters are numbered, and 0 otherwise: a table for each matcher would be most of the memory of a lookup. */
const numbers = new Uint16Array(65_536)

/** Numbers letters in the order of their first appearance. */
function numberLetters(units: Uint16Array): { readonly letters: Uint16Array; readonly count: number } {
  const letters = new Uint16Array(units.length)
  let count = 0
  for (let at = 0; at < units.length; at++) {
    const unit = units[at]!
    if (numbers[unit] === 0) numbers[unit] = ++count
    letters[at] = numbers[unit]! - 1
  }
  for (let at = 0; at < units.length; at++) numbers[units[at]!] = 0
  return { letters, count }
}

/**
 * Compares values by number. Letters are renumbered, so that the table of a pattern stays small. The last `a` stays
 * prepared, so it is fastest to compare one `a` with many values.
 */
export class StringMatcher {
  readonly #letters: Uint16Array
  /**
   * Two entries per value, adjacent for one memory access: its start, and its set of letters as bits; two letters may
   * share a bit.
   */
  readonly #values: Uint32Array
  /** Positions of each letter in the prepared value, as bits. */
  readonly #positions: Int32Array
  /** All bits set if a swap of neighbours is one edit, none if it is two. */
  readonly #swaps: number
  #prepared = -1
  #long: LongPattern | undefined
  #longPrepared = -1

  constructor({ units, starts, size }: Dictionary, swaps: 'swaps' | 'no_swaps' = 'swaps') {
    this.#swaps = swaps === 'swaps' ? -1 : 0
    const { letters, count } = numberLetters(units)
    this.#letters = letters
    this.#positions = new Int32Array(Math.max(min_letters, count))
    this.#values = new Uint32Array(size * 2 + 1)
    for (let code = 0; code < size; code++) {
      let set = 0
      for (let at = starts[code]!; at < starts[code + 1]!; at++) set |= 1 << (this.#letters[at]! & 31)
      this.#values[code * 2] = starts[code]!
      this.#values[code * 2 + 1] = set
    }
    this.#values[size * 2] = starts[size]!
  }

  lengthOf(code: number): number {
    return this.#values[code * 2 + 2]! - this.#values[code * 2]!
  }

  /** Returns the length of the common prefix, at most `max_length`. */
  commonPrefix(a: number, b: number, max_length: number): number {
    const letters = this.#letters
    const [aStart, bStart] = [this.#values[a * 2]!, this.#values[b * 2]!]
    let length = 0
    while (length < max_length && letters[aStart + length] === letters[bStart + length]) length++
    return length
  }

  /**
   * Computes the optimal string alignment distance: insertions, deletions, substitutions, and swaps of neighbours, none
   * of them edited twice; without swaps it is Levenshtein's distance. Returns `max_distance + 1` for every distance
   * above `max_distance`. After Hyyrö, "A bit-vector algorithm for computing Levenshtein and Damerau edit distances",
   * 2003.
   */
  distance(a: number, b: number, max_distance: number): number {
    const aLength = this.lengthOf(a)
    const bLength = this.lengthOf(b)
    if (aLength - bLength > max_distance || bLength - aLength > max_distance) return max_distance + 1
    const [aSet, bSet] = [this.#values[a * 2 + 1]!, this.#values[b * 2 + 1]!]
    if (popCount(aSet & ~bSet) > max_distance || popCount(bSet & ~aSet) > max_distance) return max_distance + 1
    if (aLength === 0 || bLength === 0) return Math.max(aLength, bLength)
    if (aLength > word_bits)
      return bLength > word_bits ? this.#distanceOfLong(a, b, max_distance) : this.distance(b, a, max_distance)
    this.#prepare(a)
    const positions = this.#positions
    const letters = this.#letters
    const last = 1 << (aLength - 1)
    const swaps = this.#swaps
    let [distance, above, below, diagonal, before] = [aLength, -1, 0, 0, 0]
    for (let at = this.#values[b * 2]!, end = at + bLength; at < end; at++) {
      const same = positions[letters[at]!]!
      const swapped = ((~diagonal & same) << 1) & before & swaps
      diagonal = ((((same & above) + above) | 0) ^ above) | same | below | swapped
      let right = below | ~(diagonal | above)
      const left = diagonal & above
      if (right & last) distance++
      else if (left & last) distance--
      right = (right << 1) | 1
      above = (left << 1) | ~(diagonal | right)
      below = right & diagonal
      before = same
    }
    return distance > max_distance ? max_distance + 1 : distance
  }

  /**
   * Computes the Jaro-Winkler similarity from 0 to 1 of at most the first 32 letters, with a prefix of at most four and a
   * weight of .1. May return 0 for a similarity below `least`. After Winkler, "String comparator metrics and enhanced
   * decision rules", 1990.
   */
  jaroWinkler(a: number, b: number, least: number): number {
    const aLength = Math.min(word_bits, this.lengthOf(a))
    const bLength = Math.min(word_bits, this.lengthOf(b))
    if (aLength === 0 || bLength === 0) return 0
    const prefix = this.commonPrefix(a, b, Math.min(4, aLength, bLength))
    const [aSet, bSet] = [this.#values[a * 2 + 1]!, this.#values[b * 2 + 1]!]
    const max_matches = Math.min(aLength - popCount(aSet & ~bSet), bLength - popCount(bSet & ~aSet))
    const bound = (max_matches / aLength + max_matches / bLength + 1) / 3
    if (bound + prefix * 0.1 * (1 - bound) < least) return 0
    const jaro = this.#jaro(a, b, aLength, bLength)
    return jaro + prefix * 0.1 * (1 - jaro)
  }

  #jaro(a: number, b: number, aLength: number, bLength: number): number {
    this.#prepare(a)
    const positions = this.#positions
    const letters = this.#letters
    const start = this.#values[b * 2]!
    const reach = Math.max(0, (Math.max(aLength, bLength) >> 1) - 1)
    let window = (1 << (reach + 1)) - 1
    let [aMatched, bMatched] = [0, 0]
    for (let at = 0; at < bLength; at++) {
      const same = positions[letters[start + at]!]! & window & ~aMatched
      if (same !== 0) {
        aMatched |= same & -same
        bMatched |= 1 << at
      }
      window = at < reach ? (window << 1) | 1 : window << 1
    }
    if (bMatched === 0) return 0
    let [matches, moved] = [0, 0]
    for (let bRest = bMatched, aRest = aMatched; bRest !== 0; bRest &= bRest - 1, aRest &= aRest - 1) {
      matches++
      const at = 31 - Math.clz32(bRest & -bRest)
      if ((positions[letters[start + at]!]! & aRest & -aRest) === 0) moved++
    }
    return (matches / aLength + matches / bLength + (matches - (moved >> 1)) / matches) / 3
  }

  /** Prepares the positions of the first 32 letters of a value. */
  #prepare(code: number): void {
    if (this.#prepared === code) return
    const positions = this.#positions
    const letters = this.#letters
    if (this.#prepared >= 0) {
      const end = this.#values[this.#prepared * 2 + 2]!
      for (let at = this.#values[this.#prepared * 2]!; at < end; at++) positions[letters[at]!] = 0
    }
    const start = this.#values[code * 2]!
    const length = Math.min(word_bits, this.lengthOf(code))
    for (let at = 0; at < length; at++) positions[letters[start + at]!]! |= 1 << at
    this.#prepared = code
  }

  #distanceOfLong(a: number, b: number, max_distance: number): number {
    this.#long ??= new LongPattern(this.#positions.length)
    if (this.#longPrepared !== a) this.#long.prepare(this.#lettersOf(a))
    this.#longPrepared = a
    return this.#long.distance(this.#lettersOf(b), max_distance, this.#swaps)
  }

  #lettersOf(code: number): Uint16Array {
    return this.#letters.subarray(this.#values[code * 2]!, this.#values[code * 2 + 2]!)
  }
}
