// Disjoint sets of rows (union-find).

/** Sets of whole numbers from 0; see Tarjan, "Efficiency of a Good But Not Linear Set Union Algorithm", 1975. */
export class DisjointSets {
  readonly #parents: Int32Array

  constructor(rows: number) {
    this.#parents = createRange(rows)
  }

  /** The representative of the row's set. */
  find(row: number): number {
    const parents = this.#parents
    let at = row
    while (parents[at] !== at) {
      parents[at] = parents[parents[at]!]!
      at = parents[at]!
    }
    return at
  }

  /** Joins two sets, given by their representatives; `into` represents the result. */
  join(into: number, other: number): void {
    this.#parents[other] = into
  }

  /** The representative of each row's set. */
  roots(): Int32Array {
    const roots = new Int32Array(this.#parents.length)
    for (let row = 0; row < roots.length; row++) roots[row] = this.find(row)
    return roots
  }

  /** The lowest row of each row's set. */
  lowest(): Int32Array {
    const rows = this.#parents.length
    const lowest = new Int32Array(rows).fill(-1)
    const found = new Int32Array(rows)
    for (let row = 0; row < rows; row++) {
      const root = this.find(row)
      if (lowest[root]! < 0) lowest[root] = row
      found[row] = lowest[root]!
    }
    return found
  }
}

/** The numbers from 0 to `count - 1`. */
export function createRange(count: number): Int32Array {
  const numbers = new Int32Array(count)
  for (let at = 0; at < count; at++) numbers[at] = at
  return numbers
}

/** Sets of rows that pairs above `need` connect, directly or through others. */
export function connectRows(rows: number, { lefts, rights, above }: WeightedPairs, need: number): DisjointSets {
  const groups = new DisjointSets(rows)
  for (let pair = 0; pair < lefts.length; pair++) {
    if (above[pair]! <= need) continue
    const one = groups.find(lefts[pair]!)
    const other = groups.find(rights[pair]!)
    if (one !== other) groups.join(Math.min(one, other), Math.max(one, other))
  }
  return groups
}

/**
 * Scored pairs of rows. `above`: distance of a score above the lowest that counts; 0 and below equal an absent pair.
 */
export type WeightedPairs = { readonly lefts: Int32Array; readonly rights: Int32Array; readonly above: Float64Array }
