// The most similar texts of each text, by the cosine of their vectors.
import { computeCosine, type TfidfVectors } from './tfidf-vectors.ts'

/** Limit of rows for a search of nearest neighbours: the memory of their parts. */
export const max_neighbour_rows = 250_000
/** Limit of products of weights in a search: about ten seconds. Beyond it, the most common terms are left out. */
const max_products = 2e9

/**
 * The `k` most similar rows of each row: `neighbours[row * k + rank]`, or -1, most similar first, with their cosines.
 */
export type NearestNeighbours = { readonly k: number; readonly neighbours: Int32Array; readonly cosines: Float32Array }

/**
 * Finds the nearest among all other rows; with `sources` of 0 and 1, among the rows of the other source. Equal cosines
 * are in the order of rows. Every cosine is computed once and offered to both rows. Of very many rows, the neighbours
 * are found by their rarer terms; their cosines are those of all terms.
 */
export function findNearestNeighbours(
  vectors: TfidfVectors,
  k: number,
  sources?: Int32Array,
  max = max_products,
): NearestNeighbours {
  const rare = selectRareTerms(vectors, sources, max)
  if (!rare) return searchByAllTerms(vectors, k, sources)
  return rankByAllTerms(vectors, searchByRareTerms(rare, k, sources))
}

/** Leaves out the most common terms, so that the products fit the limit; undefined where they all fit. */
function selectRareTerms(
  vectors: TfidfVectors,
  sources: Int32Array | undefined,
  max: number,
): TfidfVectors | undefined {
  const { rows, size, starts, terms, weights } = vectors
  const counts = [new Float64Array(size), new Float64Array(size)]
  for (let row = 0; row < rows; row++) {
    const side = counts[sources?.[row] ?? 0]!
    for (let at = starts[row]!; at < starts[row + 1]!; at++) side[terms[at]!]!++
  }
  const products = counts[0]!.map((count, term) => (sources ? count * counts[1]![term]! : (count * (count - 1)) / 2))
  let sum = products.reduce((all, count) => all + count, 0)
  if (sum <= max) return undefined
  const isLeftOut = new Uint8Array(size)
  for (const term of Uint32Array.from(products.keys()).sort((a, b) => products[b]! - products[a]! || a - b)) {
    if (sum <= max) break
    isLeftOut[term] = 1
    sum -= products[term]!
  }
  const kept = terms.map((term) => 1 - isLeftOut[term]!)
  const rareStarts = new Uint32Array(rows + 1)
  for (let row = 0; row < rows; row++) {
    let count = rareStarts[row]!
    for (let at = starts[row]!; at < starts[row + 1]!; at++) count += kept[at]!
    rareStarts[row + 1] = count
  }
  const isKept = (_: number, at: number) => kept[at] === 1
  return { rows, size, starts: rareStarts, terms: terms.filter(isKept), weights: weights.filter(isKept) }
}

/** Computes the cosines of found neighbours from all their terms, and ranks them again. */
function rankByAllTerms(vectors: TfidfVectors, { k, neighbours }: NearestNeighbours): NearestNeighbours {
  const ranked = createNeighbours(vectors.rows, k)
  for (let row = 0; row < vectors.rows; row++) {
    for (const other of neighbours.slice(row * k, (row + 1) * k).sort()) {
      if (other >= 0) insertNeighbour(ranked, row, other, computeCosine(vectors, row, other))
    }
  }
  return ranked
}

/** Searches with all terms: most rows share some, so that the sums of all rows are read. */
function searchByAllTerms(vectors: TfidfVectors, k: number, sources: Int32Array | undefined): NearestNeighbours {
  const search = new NeighbourSearch(vectors, k, sources)
  const first = sources ? Math.max(0, sources.indexOf(1)) : 0
  search.forEachRow((row) => {
    search.addProducts(row)
    const from = sources ? first : row + 1
    for (let other = from; other < vectors.rows; other++) search.offer(row, other)
    search.sums.fill(0, from)
  })
  return search.nearest
}

/** Searches with few terms: only the rows that share one are read. */
function searchByRareTerms(vectors: TfidfVectors, k: number, sources: Int32Array | undefined): NearestNeighbours {
  const search = new NeighbourSearch(vectors, k, sources)
  const sharing = new Int32Array(vectors.rows)
  search.forEachRow((row) => {
    const count = search.addSharedProducts(row, sharing)
    for (let at = 0; at < count; at++) {
      search.offer(row, sharing[at]!)
      search.sums[sharing[at]!] = 0
    }
  })
  return search.nearest
}

/** Computes each cosine once, and offers both rows to each other. */
class NeighbourSearch {
  readonly nearest: NearestNeighbours
  /** Cosines of the current row with the others, as far as they are added up. */
  readonly sums: Float32Array
  readonly #vectors: TfidfVectors
  readonly #sources: Int32Array | undefined
  readonly #index: InvertedIndex
  /** Threshold of each row that a cosine must exceed to be among its nearest. */
  readonly #least: Float32Array
  /** Rows are visited in ascending order, so entries before `next` in the list of a term are already visited. */
  readonly #next: Uint32Array

  constructor(vectors: TfidfVectors, k: number, sources: Int32Array | undefined) {
    this.#vectors = vectors
    this.#sources = sources
    this.#index = buildInvertedIndex(vectors, sources)
    this.#next = this.#index.starts.slice()
    this.#least = new Float32Array(vectors.rows)
    this.sums = new Float32Array(vectors.rows)
    this.nearest = createNeighbours(vectors.rows, k)
  }

  /** Visits all rows; with sources, those of source 0. */
  forEachRow(visit: (row: number) => void): void {
    for (let row = 0; row < this.#vectors.rows; row++) if (!this.#sources || this.#sources[row] === 0) visit(row)
  }

  addProducts(row: number): void {
    const { starts, terms, weights } = this.#vectors
    const { rows, weights: others, starts: ends } = this.#index
    for (let at = starts[row]!; at < starts[row + 1]!; at++) {
      const [from, weight] = [this.#advance(terms[at]!), weights[at]!]
      for (let entry = from; entry < ends[terms[at]! + 1]!; entry++) this.sums[rows[entry]!]! += weight * others[entry]!
    }
  }

  /** Adds products, and writes the rows that have some to `sharing`; returns their count. */
  addSharedProducts(row: number, sharing: Int32Array): number {
    const { starts, terms, weights } = this.#vectors
    const { rows, weights: others, starts: ends } = this.#index
    let count = 0
    for (let at = starts[row]!; at < starts[row + 1]!; at++) {
      const [from, weight] = [this.#advance(terms[at]!), weights[at]!]
      for (let entry = from; entry < ends[terms[at]! + 1]!; entry++) {
        const other = rows[entry]!
        if (this.sums[other] === 0) sharing[count++] = other
        this.sums[other]! += weight * others[entry]!
      }
    }
    return count
  }

  /** Passes the entry of the current row in the list of a term; with sources, no list has one. */
  #advance(term: number): number {
    return this.#sources ? this.#next[term]! : ++this.#next[term]!
  }

  offer(row: number, other: number): void {
    const cosine = this.sums[other]!
    if (cosine > this.#least[row]!) this.#least[row] = insertNeighbour(this.nearest, row, other, cosine)
    if (cosine > this.#least[other]!) this.#least[other] = insertNeighbour(this.nearest, other, row, cosine)
  }
}

function createNeighbours(rows: number, k: number): NearestNeighbours {
  return { k, neighbours: new Int32Array(rows * k).fill(-1), cosines: new Float32Array(rows * k) }
}

type InvertedIndex = { readonly starts: Uint32Array; readonly rows: Int32Array; readonly weights: Float32Array }

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
