// Texts as TF-IDF vectors of their parts; the cosine of two vectors is the similarity of two texts.
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
  const terms: number[] = []
  const counts: number[] = []
  let buffer = new Int32Array(256)
  for (const [row, text] of texts.entries()) {
    if (text.length > buffer.length) buffer = new Int32Array(text.length * 2)
    const sorted = buffer.subarray(0, tokeniser.tokenise(text, buffer)).sort()
    for (let from = 0, to = 0; from < sorted.length; from = to) {
      const number = sorted[from]!
      while (to < sorted.length && sorted[to] === number) to++
      frequencies[number] = (frequencies[number] ?? 0) + 1
      terms.push(number)
      counts.push(to - from)
    }
    starts[row + 1] = terms.length
  }
  const rarity = frequencies.map((frequency) => Math.log((1 + texts.length) / (1 + frequency)) + 1)
  const weights = new Float32Array(terms.length)
  for (let at = 0; at < terms.length; at++) weights[at] = (1 + Math.log(counts[at]!)) * rarity[terms[at]!]!
  for (let row = 0; row < texts.length; row++) scaleToUnitLength(weights.subarray(starts[row]!, starts[row + 1]!))
  return { rows: texts.length, size: tokeniser.size, starts, terms: Int32Array.from(terms), weights }
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

/** Limit of rows for a search of nearest neighbours, whose time grows with the square. */
export const max_neighbour_rows = 20_000

/**
 * The `k` most similar rows of each row: `neighbours[row * k + rank]`, or -1, most similar first, with their cosines.
 */
export type NearestNeighbours = { readonly k: number; readonly neighbours: Int32Array; readonly cosines: Float32Array }

/**
 * Finds the nearest among all other rows; with `sources` of 0 and 1, among the rows of the other source. Equal cosines
 * are in the order of rows. Every cosine is computed once and offered to both rows.
 */
export function findNearestNeighbours(vectors: TfidfVectors, k: number, sources?: Int32Array): NearestNeighbours {
  const { rows, starts, terms, weights } = vectors
  const index = buildInvertedIndex(vectors, sources)
  const nearest = { k, neighbours: new Int32Array(rows * k).fill(-1), cosines: new Float32Array(rows * k) }
  const sums = new Float32Array(rows)
  /** Threshold of each row that a cosine must exceed to be among its nearest. */
  const least = new Float32Array(rows)
  // Rows are visited in ascending order, so entries before `next` in the list of a term are already visited.
  const next = index.starts.slice()
  for (let row = 0; row < rows; row++) {
    if (sources && sources[row] !== 0) continue
    for (let at = starts[row]!; at < starts[row + 1]!; at++) {
      const term = terms[at]!
      if (!sources) next[term]!++
      addProducts(sums, weights[at]!, index, next[term]!, index.starts[term + 1]!)
    }
    const from = sources ? 0 : row + 1
    for (let other = from; other < rows; other++) {
      const cosine = sums[other]!
      if (cosine > least[row]!) least[row] = insertNeighbour(nearest, row, other, cosine)
      if (cosine > least[other]!) least[other] = insertNeighbour(nearest, other, row, cosine)
    }
    sums.fill(0, from)
  }
  return nearest
}

type InvertedIndex = { readonly starts: Uint32Array; readonly rows: Int32Array; readonly weights: Float32Array }

function addProducts(
  sums: Float32Array,
  weight: number,
  { rows, weights }: InvertedIndex,
  from: number,
  to: number,
): void {
  for (let at = from; at < to; at++) sums[rows[at]!]! += weight * weights[at]!
}

/** Inserts a neighbour of a row; returns the threshold that the next cosine must exceed. */
function insertNeighbour(
  { k, neighbours, cosines }: NearestNeighbours,
  row: number,
  other: number,
  cosine: number,
): number {
  const from = row * k
  const last = from + k - 1
  let at = last
  while (at > from && (neighbours[at - 1]! < 0 || cosines[at - 1]! < cosine)) {
    neighbours[at] = neighbours[at - 1]!
    cosines[at] = cosines[at - 1]!
    at--
  }
  neighbours[at] = other
  cosines[at] = cosine
  return neighbours[last]! < 0 ? 0 : cosines[last]!
}

/** Builds the ascending rows of each term; with `sources`, only rows of source 1. */
function buildInvertedIndex({ rows, size, starts, terms, weights }: TfidfVectors, sources?: Int32Array): InvertedIndex {
  const isListed = (row: number) => !sources || sources[row] === 1
  const from = new Uint32Array(size + 1)
  for (let row = 0; row < rows; row++) {
    if (isListed(row)) for (let at = starts[row]!; at < starts[row + 1]!; at++) from[terms[at]! + 1]!++
  }
  for (let term = 0; term < size; term++) from[term + 1]! += from[term]!
  const next = from.slice()
  const listed = from[size]!
  const inverted = { starts: from, rows: new Int32Array(listed), weights: new Float32Array(listed) }
  for (let row = 0; row < rows; row++) {
    if (!isListed(row)) continue
    for (let at = starts[row]!; at < starts[row + 1]!; at++) {
      const entry = next[terms[at]!]!++
      inverted.rows[entry] = row
      inverted.weights[entry] = weights[at]!
    }
  }
  return inverted
}
