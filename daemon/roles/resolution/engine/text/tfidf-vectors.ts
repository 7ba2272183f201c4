// Texts as TF-IDF vectors of their parts; the cosine of two vectors is the similarity of two texts.
import { doubleLength } from '../../../../kernel/data/data-block.ts'
import type { Tokeniser } from './tokeniser.ts'

/**
 * Sparse rows: row `r` has the ascending terms `terms[starts[r]]` to `terms[starts[r + 1]]` with weights, of length 1.
 */
export type TfidfVectors = {
  readonly rows: number
  readonly size: number
  readonly starts: Uint32Array
  readonly terms: Int32Array
  readonly weights: Float32Array
}

/**
 * Builds vectors. Weights are (1 + ln tf) (ln((1 + n) / (1 + df)) + 1), scaled to length 1: sublinear term frequency
 * and smoothed inverse document frequency, as in scikit-learn's `TfidfVectorizer(sublinear_tf=True)`.
 */
export function buildTfidfVectors(texts: readonly string[], tokeniser: Tokeniser): TfidfVectors {
  const frequencies: number[] = []
  const starts = new Uint32Array(texts.length + 1)
  let terms = new Int32Array(1 << 12)
  let counts = new Int32Array(1 << 12)
  let length = 0
  let buffer = new Int32Array(256)
  for (const [row, text] of texts.entries()) {
    if (text.length > buffer.length) buffer = new Int32Array(text.length * 2)
    const sorted = buffer.subarray(0, tokeniser.tokenise(text, buffer)).sort()
    for (let from = 0, to = 0; from < sorted.length; from = to) {
      const number = sorted[from]!
      while (to < sorted.length && sorted[to] === number) to++
      frequencies[number] = (frequencies[number] ?? 0) + 1
      if (length === terms.length) [terms, counts] = [doubleLength(terms), doubleLength(counts)]
      terms[length] = number
      counts[length++] = to - from
    }
    starts[row + 1] = length
  }
  const rarity = frequencies.map((frequency) => Math.log((1 + texts.length) / (1 + frequency)) + 1)
  const weights = new Float32Array(length)
  for (let at = 0; at < length; at++) weights[at] = (1 + Math.log(counts[at]!)) * rarity[terms[at]!]!
  for (let row = 0; row < texts.length; row++) scaleToUnitLength(weights.subarray(starts[row]!, starts[row + 1]!))
  return { rows: texts.length, size: tokeniser.size, starts, terms: terms.slice(0, length), weights }
}

function scaleToUnitLength(weights: Float32Array): void {
  let sum = 0
  for (const weight of weights) sum += weight * weight
  const length = Math.sqrt(sum)
  for (let at = 0; at < weights.length; at++) weights[at]! /= length
}

/** Computes the cosine, from 0 for no common part to 1 for the same parts with the same counts; 0 for an empty text. */
export function computeCosine({ starts, terms, weights }: TfidfVectors, a: number, b: number): number {
  let left = starts[a]!
  let right = starts[b]!
  const leftEnd = starts[a + 1]!
  const rightEnd = starts[b + 1]!
  let sum = 0
  while (left < leftEnd && right < rightEnd) {
    const difference = terms[left]! - terms[right]!
    if (difference === 0) sum += weights[left++]! * weights[right++]!
    else if (difference < 0) left++
    else right++
  }
  return sum
}
