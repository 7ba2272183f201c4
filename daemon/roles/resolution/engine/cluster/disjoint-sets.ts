// Disjoint sets of rows (union-find).

/** Disjoint sets of integers from 0; see Tarjan, "Efficiency of a Good But Not Linear Set Union Algorithm", 1975. */
export class DisjointSets {
  readonly #parents: Int32Array

  constructor(rows: number) {
    this.#parents = createRange(rows)
  }

  /** Finds the representative of the row's set. */
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

  /** Returns the representative of each row's set. */
  roots(): Int32Array {
    const roots = new Int32Array(this.#parents.length)
    for (let row = 0; row < roots.length; row++) roots[row] = this.find(row)
    return roots
  }

  /** Returns the lowest row of each row's set. */
  lowest(): Int32Array {
    const rows = this.#parents.length
    const lowest = new Int32Array(rows).fill(-1)
    const lowestOfRow = new Int32Array(rows)
    for (let row = 0; row < rows; row++) {
      const root = this.find(row)
      if (lowest[root]! < 0) lowest[root] = row
      lowestOfRow[row] = lowest[root]!
    }
    return lowestOfRow
  }
}

/** Creates the numbers from 0 to `count - 1`. */
export function createRange(count: number): Int32Array {
  const numbers = new Int32Array(count)
  for (let at = 0; at < count; at++) numbers[at] = at
  return numbers
}

/** Joins rows that pairs above `need` connect, directly or through others. */
export function connectRows(rows: number, { lefts, rights, above }: WeightedPairs, need: number): DisjointSets {
  const groups = new DisjointSets(rows)
  for (let pair = 0; pair < lefts.length; pair++) {
    if (above[pair]! <= need) continue
    const left = groups.find(lefts[pair]!)
    const right = groups.find(rights[pair]!)
    if (left !== right) groups.join(Math.min(left, right), Math.max(left, right))
  }
  return groups
}

/**
 * Scored pairs of rows. `above`: height of a score above the floor; 0 and below equal an absent pair.
 */
export type WeightedPairs = { readonly lefts: Int32Array; readonly rights: Int32Array; readonly above: Float64Array }
