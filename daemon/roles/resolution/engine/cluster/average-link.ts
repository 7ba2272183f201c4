// Average-link clustering: joins the two clusters with the highest mean score over all cross pairs while it is above a
// cut.
import { type EngineProgressListener, ignoreProgress, throttleProgress } from '../progress.ts'
import { clusterByChains } from './chains.ts'
import { connectRows, createRange, type WeightedPairs } from './disjoint-sets.ts'

/** Largest connected set of rows that is clustered by scanning all pairs of clusters. */
const max_dense_rows = 24

/** Clusters found before the pairs from index `from` on were added. */
export type PreviousClusters = { readonly clusters: Int32Array; readonly from: number }

/**
 * Clusters rows: returns the lowest row of each row's cluster. A pair that is not listed counts as 0 `above`. The best
 * two clusters are joined repeatedly; of equal means, the lower rows. Rows without a good pair are separated first, so
 * that each connected set is clustered separately, and only if it has new pairs.
 */
export function clusterByAverageLink(
  rows: number,
  pairs: WeightedPairs,
  need: number,
  before?: PreviousClusters,
  report: EngineProgressListener = ignoreProgress,
): Int32Array {
  const roots = connectRows(rows, pairs, need).roots()
  const clusters = createRange(rows)
  const isNew = before && findNewRoots(rows, pairs, roots, before)
  if (isNew) for (let row = 0; row < rows; row++) if (!isNew[roots[row]!]) clusters[row] = before.clusters[row]!
  const { from, order } = groupPairsByRoot(pairs, roots, isNew)
  const parts = new ComponentJoiner(rows, pairs, need, clusters, report)
  const countRow = throttleProgress(report, 'cluster', rows)
  for (let root = 0; root < rows; root++) {
    countRow(root)
    if (from[root + 1]! > from[root]!) parts.join(order.subarray(from[root]!, from[root + 1]!))
  }
  return clusters
}

function findNewRoots(
  rows: number,
  { lefts, rights, above }: WeightedPairs,
  roots: Int32Array,
  { from }: PreviousClusters,
): Uint8Array {
  const isNew = new Uint8Array(rows)
  for (let pair = from; pair < lefts.length; pair++) {
    if (above[pair]! <= 0) continue
    isNew[roots[lefts[pair]!]!] = 1
    isNew[roots[rights[pair]!]!] = 1
  }
  return isNew
}

/** Groups pairs with evidence by their connected set. */
function groupPairsByRoot({ lefts, rights, above }: WeightedPairs, roots: Int32Array, isNew: Uint8Array | undefined) {
  const from = new Uint32Array(roots.length + 1)
  const grouped = new Int32Array(lefts.length)
  let count = 0
  for (let pair = 0; pair < lefts.length; pair++) {
    if (above[pair]! <= 0) continue
    const root = roots[lefts[pair]!]!
    if (root !== roots[rights[pair]!] || isNew?.[root] === 0) continue
    grouped[count++] = pair
    from[root + 1]!++
  }
  for (let root = 0; root < roots.length; root++) from[root + 1]! += from[root]!
  const next = from.slice()
  const order = new Int32Array(count)
  for (let at = 0; at < count; at++) order[next[roots[lefts[grouped[at]!]!]!]!++] = grouped[at]!
  return { from, order }
}

/** Clusters connected sets of rows one by one, with reused buffers. */
class ComponentJoiner {
  readonly #pairs: WeightedPairs
  readonly #need: number
  readonly #clusters: Int32Array
  readonly #report: EngineProgressListener
  /** Index of each row among the members, or -1. */
  readonly #place: Int32Array
  readonly #members: number[] = []
  readonly #sums = new Float64Array(max_dense_rows * max_dense_rows)
  readonly #sizes = new Int32Array(max_dense_rows)
  readonly #into = new Int32Array(max_dense_rows)

  constructor(rows: number, pairs: WeightedPairs, need: number, clusters: Int32Array, report: EngineProgressListener) {
    this.#pairs = pairs
    this.#need = need
    this.#clusters = clusters
    this.#report = report
    this.#place = new Int32Array(rows).fill(-1)
  }

  join(set: Int32Array): void {
    const { lefts, rights, above } = this.#pairs
    if (set.length === 1) {
      const [a, b] = [lefts[set[0]!]!, rights[set[0]!]!]
      if (above[set[0]!]! > this.#need) this.#clusters[Math.max(a, b)] = Math.min(a, b)
      return
    }
    this.#collectMembers(set)
    if (this.#members.length <= max_dense_rows) this.#joinDense(set)
    else this.#joinByChains(set)
  }

  /** Collects the rows of a set in ascending order. */
  #collectMembers(set: Int32Array): void {
    const { lefts, rights } = this.#pairs
    const [members, place] = [this.#members, this.#place]
    members.length = 0
    for (const pair of set) {
      for (const row of [lefts[pair]!, rights[pair]!]) {
        if (place[row]! >= 0) continue
        place[row] = 0
        members.push(row)
      }
    }
    members.sort((a, b) => a - b)
    for (let at = 0; at < members.length; at++) place[members[at]!] = at
  }

  #joinDense(set: Int32Array): void {
    const { lefts, rights, above } = this.#pairs
    const [members, place, sums, sizes, into] = [this.#members, this.#place, this.#sums, this.#sizes, this.#into]
    const count = members.length
    sums.fill(0, 0, count * count)
    for (const pair of set) {
      const [a, b] = [place[lefts[pair]!]!, place[rights[pair]!]!]
      sums[a * count + b]! += above[pair]!
      sums[b * count + a]! += above[pair]!
    }
    for (let at = 0; at < count; at++) {
      sizes[at] = 1
      into[at] = at
    }
    while (joinBestPair(count, sums, sizes, into, this.#need));
    for (let at = 0; at < count; at++) {
      if (into[at] !== at) into[at] = into[into[at]!]!
      this.#clusters[members[at]!] = members[into[at]!]!
      place[members[at]!] = -1
    }
  }

  #joinByChains(set: Int32Array): void {
    const { lefts, rights, above } = this.#pairs
    const [members, place] = [this.#members, this.#place]
    const lowest = clusterByChains(
      members.length,
      {
        lefts: set.map((pair) => place[lefts[pair]!]!),
        rights: set.map((pair) => place[rights[pair]!]!),
        above: Float64Array.from(set, (pair) => above[pair]!),
      },
      this.#need,
      () => this.#report({ phase: 'cluster', done: 0, total: 0 }),
    )
    for (let at = 0; at < members.length; at++) {
      this.#clusters[members[at]!] = members[lowest[at]!]!
      place[members[at]!] = -1
    }
  }
}

/** Joins the best two of `count` clusters, the later into the earlier; false where no mean is above `need`. */
function joinBestPair(count: number, sums: Float64Array, sizes: Int32Array, into: Int32Array, need: number): boolean {
  let [highest, target, joined] = [need, -1, -1]
  for (let a = 0; a < count; a++) {
    if (into[a] !== a) continue
    for (let b = a + 1; b < count; b++) {
      if (into[b] !== b) continue
      const mean = sums[a * count + b]! / (sizes[a]! * sizes[b]!)
      if (mean > highest) [highest, target, joined] = [mean, a, b]
    }
  }
  if (target < 0) return false
  into[joined] = target
  sizes[target]! += sizes[joined]!
  for (let at = 0; at < count; at++) {
    sums[target * count + at]! += sums[joined * count + at]!
    sums[at * count + target] = sums[target * count + at]!
  }
  return true
}
