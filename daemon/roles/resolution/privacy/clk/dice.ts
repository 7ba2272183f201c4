// Similarity of two bit vectors.
import { popCount } from '../../engine/pop-count.ts'

/** Bits that are set in each vector of so many words. */
export function countVectorBits(vectors: Uint32Array, words: number): Int32Array {
  return Int32Array.from({ length: vectors.length / words }, (_, row) => {
    let sum = 0
    for (let at = row * words; at < (row + 1) * words; at++) sum += popCount(vectors[at]!)
    return sum
  })
}

/** Bits that are set in both. */
export function countCommonBits(
  left: Uint32Array,
  row: number,
  right: Uint32Array,
  other: number,
  words: number,
): number {
  let sum = 0
  for (let at = 0, one = row * words, two = other * words; at < words; at++, one++, two++) {
    sum += popCount(left[one]! & right[two]!)
  }
  return sum
}

/** Dice coefficient (1945): 1 for equal vectors, 0 for vectors with no bit in common, and for empty ones. */
export function computeDice(shared: number, weight: number, other: number): number {
  return weight + other === 0 ? 0 : (2 * shared) / (weight + other)
}
