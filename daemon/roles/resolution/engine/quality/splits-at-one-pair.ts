// Finds whether one pair alone holds two parts of a cluster together.

type RowPair = readonly [number, number]

/** A row on the path of the search; `next`: its neighbour to visit. */
type SearchStep = { readonly row: number; readonly from: number; next: number }

/**
 * Whether the graph of the pairs has a bridge with two or more rows on either side (Tarjan, "A Note on Finding the Bridges
 * of a Graph", 1974). Each pair occurs once.
 */
export function splitsAtOnePair(pairs: readonly RowPair[]): boolean {
  const search = new BridgeSearch(pairs)
  return [...search.neighbours.keys()].some((row) => search.findsBridgeFrom(row))
}

/** A depth-first search; iterative, since a chain may be as long as a cluster is large. */
class BridgeSearch {
  readonly neighbours: ReadonlyMap<number, readonly number[]>
  /** By row: its place in the search, the first place that it reaches, and the number of rows that follow it. */
  readonly #places = new Map<number, number>()
  readonly #reached = new Map<number, number>()
  readonly #followers = new Map<number, number>()

  constructor(pairs: readonly RowPair[]) {
    this.neighbours = listNeighbours(pairs)
  }

  /** Searches the rows that hang together with one; false if they were searched before. */
  findsBridgeFrom(start: number): boolean {
    if (this.#places.has(start)) return false
    const first = this.#places.size
    const bridged: number[] = []
    const path = [this.#visit(start, -1)]
    for (let step = path.at(-1); step; step = path.at(-1)) {
      const other = this.neighbours.get(step.row)?.[step.next++]
      if (other === undefined) {
        path.pop()
        const rows = this.#leave(step)
        if (rows > 0) bridged.push(rows)
      } else if (!this.#places.has(other)) path.push(this.#visit(other, step.row))
      else if (other !== step.from) this.#reach(step.row, this.#places.get(other)!)
    }
    const rows = this.#places.size - first
    return bridged.some((part) => Math.min(part, rows - part) > 1)
  }

  #visit(row: number, from: number): SearchStep {
    const place = this.#places.size
    this.#places.set(row, place)
    this.#reached.set(row, place)
    this.#followers.set(row, 0)
    return { row, from, next: 0 }
  }

  #reach(row: number, place: number): void {
    this.#reached.set(row, Math.min(this.#reached.get(row)!, place))
  }

  /** Returns the number of rows beyond the pair by which a row was reached, if that pair is a bridge; otherwise 0. */
  #leave({ row, from }: SearchStep): number {
    if (from < 0) return 0
    const rows = this.#followers.get(row)! + 1
    this.#followers.set(from, this.#followers.get(from)! + rows)
    this.#reach(from, this.#reached.get(row)!)
    return this.#reached.get(row)! > this.#places.get(from)! ? rows : 0
  }
}

function listNeighbours(pairs: readonly RowPair[]): Map<number, number[]> {
  const neighbours = new Map<number, number[]>()
  const add = (row: number, other: number) => {
    const others = neighbours.get(row)
    if (others) others.push(other)
    else neighbours.set(row, [other])
  }
  for (const [a, b] of pairs) {
    add(a, b)
    add(b, a)
  }
  return neighbours
}
