// Joins clusters whose mean score over all their cross pairs is above a cut and the highest that either has, until there are none.
import { portions, silent, type Tell } from '../progress.ts'
import { byChains } from './chains.ts'
import { connected, numbersUpTo, type Pairs } from './groups.ts'

/** Rows that hang together and are still joined by looking at all pairs of clusters each time. */
const most_dense = 24

/** Clusters that were found before the pairs from `from` on came. */
export type Before = { readonly clusters: Int32Array; readonly from: number }

/**
 * The cluster of each of `rows` rows, as the lowest row in it. A pair that is not listed is `above` by 0. The best two are
 * joined again and again; of equal means, the lower rows. Rows that no good pair joins are left apart from the start, so
 * that each set of rows that hang together is done by itself, and only where pairs are new.
 */
export function averageLink(
  rows: number,
  pairs: Pairs,
  need: number,
  before?: Before,
  tell: Tell = silent,
): Int32Array {
  const roots = connected(rows, pairs, need).roots()
  const clusters = numbersUpTo(rows)
  const isNew = before && newRoots(rows, pairs, roots, before)
  if (isNew) for (let row = 0; row < rows; row++) if (!isNew[roots[row]!]) clusters[row] = before.clusters[row]!
  const { from, order } = pairsByRoot(pairs, roots, isNew)
  const parts = new Parts(rows, pairs, need, clusters, tell)
  const looked = portions(tell, 'cluster', rows)
  for (let root = 0; root < rows; root++) {
    looked(root)
    if (from[root + 1]! > from[root]!) parts.join(order.subarray(from[root]!, from[root + 1]!))
  }
  return clusters
}

function newRoots(rows: number, { lefts, rights, above }: Pairs, roots: Int32Array, { from }: Before): Uint8Array {
  const isNew = new Uint8Array(rows)
  for (let pair = from; pair < lefts.length; pair++) {
    if (above[pair]! <= 0) continue
    isNew[roots[lefts[pair]!]!] = 1
    isNew[roots[rights[pair]!]!] = 1
  }
  return isNew
}

/** Pairs that say something within a set of rows that hang together, set by set. */
function pairsByRoot({ lefts, rights, above }: Pairs, roots: Int32Array, isNew: Uint8Array | undefined) {
  const from = new Uint32Array(roots.length + 1)
  const inside = new Int32Array(lefts.length)
  let count = 0
  for (let pair = 0; pair < lefts.length; pair++) {
    if (above[pair]! <= 0) continue
    const root = roots[lefts[pair]!]!
    if (root !== roots[rights[pair]!] || isNew?.[root] === 0) continue
    inside[count++] = pair
    from[root + 1]!++
  }
  for (let root = 0; root < roots.length; root++) from[root + 1]! += from[root]!
  const next = from.slice()
  const order = new Int32Array(count)
  for (let at = 0; at < count; at++) order[next[roots[lefts[inside[at]!]!]!]!++] = inside[at]!
  return { from, order }
}

/** Clusters within one set of rows after the other. */
class Parts {
  readonly #pairs: Pairs
  readonly #need: number
  readonly #clusters: Int32Array
  readonly #tell: Tell
  /** Of each row its place among the members. */
  readonly #place: Int32Array
  readonly #members: number[] = []
  readonly #sums = new Float64Array(most_dense * most_dense)
  readonly #sizes = new Int32Array(most_dense)
  readonly #into = new Int32Array(most_dense)

  constructor(rows: number, pairs: Pairs, need: number, clusters: Int32Array, tell: Tell) {
    this.#pairs = pairs
    this.#need = need
    this.#clusters = clusters
    this.#tell = tell
    this.#place = new Int32Array(rows).fill(-1)
  }

  join(set: Int32Array): void {
    const { lefts, rights, above } = this.#pairs
    if (set.length === 1) {
      const [a, b] = [lefts[set[0]!]!, rights[set[0]!]!]
      if (above[set[0]!]! > this.#need) this.#clusters[Math.max(a, b)] = Math.min(a, b)
      return
    }
    this.#meet(set)
    if (this.#members.length <= most_dense) this.#byLooking(set)
    else this.#byChains(set)
  }

  /** The rows of a set, rising. */
  #meet(set: Int32Array): void {
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

  #byLooking(set: Int32Array): void {
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
    while (joinBest(count, sums, sizes, into, this.#need));
    for (let at = 0; at < count; at++) {
      if (into[at] !== at) into[at] = into[into[at]!]!
      this.#clusters[members[at]!] = members[into[at]!]!
      place[members[at]!] = -1
    }
  }

  #byChains(set: Int32Array): void {
    const { lefts, rights, above } = this.#pairs
    const [members, place] = [this.#members, this.#place]
    const found = byChains(
      members.length,
      {
        lefts: set.map((pair) => place[lefts[pair]!]!),
        rights: set.map((pair) => place[rights[pair]!]!),
        above: Float64Array.from(set, (pair) => above[pair]!),
      },
      this.#need,
      () => this.#tell({ phase: 'cluster', done: 0, total: 0 }),
    )
    for (let at = 0; at < members.length; at++) {
      this.#clusters[members[at]!] = members[found[at]!]!
      place[members[at]!] = -1
    }
  }
}

/** Joins the best two of `count` clusters, the later into the earlier; false where none are good enough. */
function joinBest(count: number, sums: Float64Array, sizes: Int32Array, into: Int32Array, need: number): boolean {
  let [highest, one, other] = [need, -1, -1]
  for (let a = 0; a < count; a++) {
    if (into[a] !== a) continue
    for (let b = a + 1; b < count; b++) {
      if (into[b] !== b) continue
      const mean = sums[a * count + b]! / (sizes[a]! * sizes[b]!)
      if (mean > highest) [highest, one, other] = [mean, a, b]
    }
  }
  if (one < 0) return false
  into[other] = one
  sizes[one]! += sizes[other]!
  for (let at = 0; at < count; at++) {
    sums[one * count + at]! += sums[other * count + at]!
    sums[at * count + one] = sums[one * count + at]!
  }
  return true
}
