// Average link for large connected sets, without scanning all pairs of clusters repeatedly.
import { DisjointSets, type WeightedPairs } from './disjoint-sets.ts'

const steps_per_report = 4_096

/**
 * Clusters rows: returns the lowest row of each row's cluster. Chains of nearest neighbours give the result of
 * repeatedly joining the best two (Benzécri, "Construction d'une classification ascendante hiérarchique", 1982), since
 * mean scores never rise when others are joined. Of equal means the lower row is nearer. `onStep` is called regularly,
 * and may throw.
 */
export function clusterByChains(
  rows: number,
  pairs: WeightedPairs,
  need: number,
  onStep: () => void = () => undefined,
): Int32Array {
  const adjacency = new ClusterAdjacency(rows, pairs, need)
  const chain: number[] = []
  let steps = 0
  for (let row = 0; row < rows; row++) {
    if (!adjacency.isOpen(row)) continue
    chain.push(row)
    while (chain.length > 0) {
      if (++steps % steps_per_report === 0) onStep()
      const tip = chain.at(-1)!
      const before = chain.at(-2) ?? -1
      const nearest = adjacency.nearest(tip, before)
      if (nearest < 0) {
        adjacency.close(tip)
        chain.pop()
      } else if (nearest !== before) chain.push(nearest)
      else {
        chain.length -= 2
        const joined = adjacency.join(tip, before)
        if (chain.length === 0) chain.push(joined)
      }
    }
  }
  return adjacency.groups.lowest()
}

/** Adjacent clusters of each cluster, with the sum of the scores between them. */
class ClusterAdjacency {
  readonly groups: DisjointSets
  readonly #need: number
  readonly #sizes: Int32Array
  readonly #labels: Int32Array
  readonly #isOpen: Uint8Array
  /** Start, length and capacity of the entries of each cluster. */
  readonly #from: Float64Array
  readonly #length: Int32Array
  readonly #room: Int32Array
  #others: Int32Array
  #sums: Float64Array
  #end: number
  /** Index of each cluster's entry in the list that is being compacted, or -1. */
  readonly #place: Int32Array

  constructor(rows: number, pairs: WeightedPairs, need: number) {
    const { lefts, rights, above } = pairs
    this.groups = new DisjointSets(rows)
    this.#need = need
    this.#sizes = new Int32Array(rows).fill(1)
    this.#labels = Int32Array.from({ length: rows }, (_, row) => row)
    this.#isOpen = new Uint8Array(rows)
    this.#length = new Int32Array(rows)
    this.#place = new Int32Array(rows).fill(-1)
    this.#from = new Float64Array(rows + 1)
    for (let pair = 0; pair < lefts.length; pair++) {
      if (above[pair]! <= 0) continue
      this.#from[lefts[pair]! + 1]!++
      this.#from[rights[pair]! + 1]!++
    }
    this.#room = Int32Array.from({ length: rows }, (_, row) => this.#from[row + 1]!)
    for (let row = 0; row < rows; row++) this.#from[row + 1]! += this.#from[row]!
    this.#end = this.#from[rows]!
    this.#others = new Int32Array(this.#end)
    this.#sums = new Float64Array(this.#end)
    for (let pair = 0; pair < lefts.length; pair++) {
      if (above[pair]! <= 0) continue
      this.#put(lefts[pair]!, rights[pair]!, above[pair]!)
      this.#put(rights[pair]!, lefts[pair]!, above[pair]!)
    }
  }

  #put(cluster: number, other: number, sum: number): void {
    this.#isOpen[cluster] = 1
    const at = this.#from[cluster]! + this.#length[cluster]!++
    this.#others[at] = other
    this.#sums[at] = sum
  }

  /** Whether the row represents a cluster that may still be joined. */
  isOpen(row: number): boolean {
    return this.#isOpen[row] === 1
  }

  close(cluster: number): void {
    this.#isOpen[cluster] = 0
  }

  /** Returns the adjacent cluster with the highest mean above the required one, or -1; `preferred` wins a tie. */
  nearest(cluster: number, preferred: number): number {
    const length = this.#shorten(cluster)
    const from = this.#from[cluster]!
    const size = this.#sizes[cluster]!
    let best = -1
    let highest = this.#need
    for (let at = from; at < from + length; at++) {
      const other = this.#others[at]!
      const mean = this.#sums[at]! / (size * this.#sizes[other]!)
      const isNearer = mean === highest && best >= 0 && best !== preferred
      if (mean > highest || (isNearer && (other === preferred || this.#labels[other]! < this.#labels[best]!))) {
        best = other
        highest = mean
      }
    }
    return best
  }

  /** Merges entries of the same cluster; returns the number of entries. */
  #shorten(cluster: number): number {
    const [others, sums, place] = [this.#others, this.#sums, this.#place]
    const from = this.#from[cluster]!
    const end = from + this.#length[cluster]!
    let to = from
    for (let at = from; at < end; at++) {
      const other = this.groups.find(others[at]!)
      if (other === cluster) continue
      const entry = place[other]!
      if (entry >= 0) sums[entry]! += sums[at]!
      else {
        place[other] = to
        others[to] = other
        sums[to++] = sums[at]!
      }
    }
    for (let at = from; at < to; at++) place[others[at]!] = -1
    this.#length[cluster] = to - from
    return to - from
  }

  /**
   * Joins two clusters and returns the row that represents them: the row of the longer list, to which the entries of
   * the other are appended.
   */
  join(first: number, second: number): number {
    const [base, added] = this.#length[first]! >= this.#length[second]! ? [first, second] : [second, first]
    const length = this.#length[base]! + this.#length[added]!
    if (length > this.#room[base]!) this.#move(base, length * 2)
    const to = this.#from[base]! + this.#length[base]!
    const from = this.#from[added]!
    this.#others.copyWithin(to, from, from + this.#length[added]!)
    this.#sums.copyWithin(to, from, from + this.#length[added]!)
    this.#length[base] = length
    this.groups.join(base, added)
    this.#sizes[base]! += this.#sizes[added]!
    this.#labels[base] = Math.min(this.#labels[base]!, this.#labels[added]!)
    this.#isOpen[added] = 0
    return base
  }

  #move(cluster: number, room: number): void {
    if (this.#end + room > this.#others.length) this.#widen(room)
    const from = this.#from[cluster]!
    this.#others.copyWithin(this.#end, from, from + this.#length[cluster]!)
    this.#sums.copyWithin(this.#end, from, from + this.#length[cluster]!)
    this.#from[cluster] = this.#end
    this.#room[cluster] = room
    this.#end += room
  }

  #widen(room: number): void {
    const length = Math.max(this.#others.length * 2, this.#end + room)
    const others = new Int32Array(length)
    others.set(this.#others)
    this.#others = others
    const sums = new Float64Array(length)
    sums.set(this.#sums)
    this.#sums = sums
  }
}
