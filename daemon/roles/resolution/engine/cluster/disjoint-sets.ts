// Which rows belong together, as sets that are joined.

/** Sets of whole numbers from 0; see Tarjan, "Efficiency of a Good But Not Linear Set Union Algorithm", 1975. */
export class DisjointSets {
  readonly #parents: Int32Array

  constructor(rows: number) {
    this.#parents = createRange(rows)
  }

  /** The row that stands for the set. */
  find(row: number): number {
    const parents = this.#parents
    let at = row
    while (parents[at] !== at) {
      parents[at] = parents[parents[at]!]!
      at = parents[at]!
    }
    return at
  }

  /** Makes one set of two, for which the first one's row stands. Both are rows that stand for a set. */
  join(into: number, other: number): void {
    this.#parents[other] = into
  }

  /** The row that stands for each row's set. */
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

/** 0, 1, 2 and so on, so many. */
export function createRange(count: number): Int32Array {
  const numbers = new Int32Array(count)
  for (let at = 0; at < count; at++) numbers[at] = at
  return numbers
}

/** Rows that are joined by pairs above `need`, directly or by others. */
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

/** Scored pairs of rows. `above`: how far a score is above the lowest that counts; 0 and below say no more than no pair. */
export type WeightedPairs = { readonly lefts: Int32Array; readonly rights: Int32Array; readonly above: Float64Array }
