// Compares what no block brought together, where clusters say that it should be.
import { sortedBy } from '../block/blocks.ts'
import type { PairList } from '../compare/patterns.ts'

const most_cross_pairs = 4_000

/** Compares what no block brought together: all pairs within clusters, and between clusters that one good pair joins. */
export function complete(
  clusters: Int32Array,
  rows: number,
  list: Pick<PairList, 'add' | 'compared'>,
  scores: Float64Array,
): void {
  const { length, lefts, rights } = list.compared()
  const { from, order: members } = sortedBy({ codes: clusters, sizes: sizesOf(clusters) })
  const partners = partnersOf(rows, lefts, rights)
  const joined = new Set<number>()
  for (let pair = 0; pair < length; pair++) {
    const one = clusters[lefts[pair]!]!
    const other = clusters[rights[pair]!]!
    if (one !== other && scores[pair]! > 0) joined.add(Math.min(one, other) * rows + Math.max(one, other))
  }
  const isKnown = new Int32Array(rows).fill(-1)
  const addAll = (one: number, other: number) => {
    for (let at = from[one]!; at < from[one + 1]!; at++) {
      const a = members[at]!
      for (let place = partners.from[a]!; place < partners.from[a + 1]!; place++) isKnown[partners.others[place]!] = a
      for (let to = one === other ? at + 1 : from[other]!; to < from[other + 1]!; to++) {
        const b = members[to]!
        if (isKnown[b] !== a) list.add(Math.min(a, b), Math.max(a, b))
      }
    }
  }
  for (let cluster = 0; cluster < rows; cluster++) if (from[cluster + 1]! - from[cluster]! > 1) addAll(cluster, cluster)
  for (const key of joined) {
    const [one, other] = [Math.floor(key / rows), key % rows]
    const crossing = (from[one + 1]! - from[one]!) * (from[other + 1]! - from[other]!)
    if (crossing <= most_cross_pairs) addAll(one, other)
  }
}

function sizesOf(clusters: Int32Array): Int32Array {
  const sizes = new Int32Array(clusters.length)
  for (let row = 0; row < clusters.length; row++) sizes[clusters[row]!]!++
  return sizes
}

/** With whom each row has been compared. */
function partnersOf(rows: number, lefts: Int32Array, rights: Int32Array): { from: Uint32Array; others: Int32Array } {
  const from = new Uint32Array(rows + 1)
  for (let pair = 0; pair < lefts.length; pair++) {
    from[lefts[pair]! + 1]!++
    from[rights[pair]! + 1]!++
  }
  for (let row = 0; row < rows; row++) from[row + 1]! += from[row]!
  const next = from.slice()
  const others = new Int32Array(lefts.length * 2)
  for (let pair = 0; pair < lefts.length; pair++) {
    others[next[lefts[pair]!]!++] = rights[pair]!
    others[next[rights[pair]!]!++] = lefts[pair]!
  }
  return { from, others }
}
