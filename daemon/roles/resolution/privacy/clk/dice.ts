// Similarity of two bit vectors.
import { popCount } from '../../engine/pop-count.ts'

/** Counts the bits set in each vector of `words` words. */
export function countVectorBits(vectors: Uint32Array, words: number): Int32Array {
  return Int32Array.from({ length: vectors.length / words }, (_, row) => {
    let sum = 0
    for (let at = row * words; at < (row + 1) * words; at++) sum += popCount(vectors[at]!)
    return sum
  })
}

/** Counts the bits set in both of two vectors. */
export function countCommonBits(
  left: Uint32Array,
  row: number,
  right: Uint32Array,
  other: number,
  words: number,
): number {
  let sum = 0
  const [from, otherFrom] = [row * words, other * words]
  for (let at = 0; at < words; at++) {
    sum += popCount(left[from + at]! & right[otherFrom + at]!)
  }
  return sum
}

/**
 * Computes the Dice coefficient (1945): 1 for equal vectors, 0 for vectors without a common bit, and for empty ones.
 */
export function computeDice(shared: number, weight: number, other: number): number {
  return weight + other === 0 ? 0 : (2 * shared) / (weight + other)
}
