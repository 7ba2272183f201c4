// Texts as vectors of their parts, weighed by how rare a part is (TF-IDF), so that a cosine tells how alike two texts
// are.
import type { Tokeniser } from './tokeniser.ts'

/**
 * Row `r` has the terms `terms[starts[r]]` to `terms[starts[r + 1]]`, rising, each with its weight; a row's length is
 * 1.
 */
export type TfidfVectors = {
  readonly rows: number
  readonly size: number
  readonly starts: Uint32Array
  readonly terms: Int32Array
  readonly weights: Float32Array
}

/**
 * Weights are (1 + ln tf) (ln((1 + n) / (1 + df)) + 1), scaled to length 1: sublinear term frequency and smoothed
 * inverse document frequency, as scikit-learn's `TfidfVectorizer(sublinear_tf=True)` has them.
 */
export function buildTfidfVectors(texts: readonly string[], parts: Tokeniser): TfidfVectors {
  const frequencies: number[] = []
  const starts = new Uint32Array(texts.length + 1)
  const terms: number[] = []
  const counts: number[] = []
  let mine = new Int32Array(256)
  for (const [row, text] of texts.entries()) {
    if (text.length > mine.length) mine = new Int32Array(text.length * 2)
    const sorted = mine.subarray(0, parts.tokenise(text, mine)).sort()
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
  return { rows: texts.length, size: parts.size, starts, terms: Int32Array.from(terms), weights }
}

function scaleToUnitLength(weights: Float32Array): void {
  let sum = 0
  for (const weight of weights) sum += weight * weight
  const length = Math.sqrt(sum)
  for (let at = 0; at < weights.length; at++) weights[at]! /= length
}

/** From 0 for nothing in common to 1 for the same parts as often; 0 where a text is empty. */
export function computeCosine({ starts, terms, weights }: TfidfVectors, a: number, b: number): number {
  let one = starts[a]!
  let other = starts[b]!
  const oneEnd = starts[a + 1]!
  const otherEnd = starts[b + 1]!
  let sum = 0
  while (one < oneEnd && other < otherEnd) {
    const difference = terms[one]! - terms[other]!
    if (difference === 0) sum += weights[one++]! * weights[other++]!
    else if (difference < 0) one++
    else other++
  }
  return sum
}

/** With more, finding each row's neighbours takes too long: it grows with the square. */
export const max_neighbour_rows = 20_000

/** The most alike rows for each row: `found[row * k + place]`, or -1, the most alike first, with their cosines. */
export type NearestNeighbours = { readonly k: number; readonly found: Int32Array; readonly cosines: Float32Array }

/**
 * Among all other rows; or, with `sources` of 0 and 1, among those of the other source. Equal cosines are in the order
 * of rows. Every cosine is found once and offered to both rows.
 */
export function findNearestNeighbours(vectors: TfidfVectors, k: number, sources?: Int32Array): NearestNeighbours {
  const { rows, starts, terms, weights } = vectors
  const index = buildInvertedIndex(vectors, sources)
  const nearest = { k, found: new Int32Array(rows * k).fill(-1), cosines: new Float32Array(rows * k) }
  const sums = new Float32Array(rows)
  /** Of each row, what a cosine must be above to be among its nearest. */
  const least = new Float32Array(rows)
  // Rows come in rising order, so what a term has passed in its list has been met.
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

/** A cosine above the least of the row's nearest, or beside fewer than `k`; what the next must be above. */
function insertNeighbour({ k, found, cosines }: NearestNeighbours, row: number, other: number, cosine: number): number {
  const from = row * k
  const last = from + k - 1
  let at = last
  while (at > from && (found[at - 1]! < 0 || cosines[at - 1]! < cosine)) {
    found[at] = found[at - 1]!
    cosines[at] = cosines[at - 1]!
    at--
  }
  found[at] = other
  cosines[at] = cosine
  return found[last]! < 0 ? 0 : cosines[last]!
}

/** For each term the rows that have it, rising; with `sources`, those of source 1 alone. */
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
      const place = next[terms[at]!]!++
      inverted.rows[place] = row
      inverted.weights[place] = weights[at]!
    }
  }
  return inverted
}
