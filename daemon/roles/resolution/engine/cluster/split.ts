// Splits clusters that hold a rejected pair: by average link, but never with the two of such a pair on one side.
import type { Constraint } from './constraints.ts'
import type { Pairs } from './groups.ts'

/** A side that is being built: how many rows it has, what links it to others, and with which it may not be joined. */
type Side = {
  size: number
  readonly links: Map<number, number>
  readonly apart: Set<number>
  nearest: { readonly other: number; readonly mean: number } | undefined
}
/** Sides of one cluster by their lowest row. */
type Sides = Map<number, Side>

/**
 * `clusters` with those split that hold a pair of `apart`; all others stay. `units`: rows that stay together, by their
 * lowest. Sides are joined, the pair with the highest mean link first, of equal ones that with the lowest rows, for as long as
 * something links them at all and no pair of `apart` is between.
 */
export function splitApart(
  clusters: Int32Array,
  pairs: Pairs,
  units: Int32Array,
  apart: readonly Constraint[],
): Int32Array {
  const torn = sidesOf(clusters, units, new Set(apart.map(({ a }) => clusters[a]!)))
  if (torn.size === 0) return clusters
  for (const { a, b } of apart) {
    const sides = torn.get(clusters[a]!)!
    sides.get(units[a]!)!.apart.add(units[b]!)
    sides.get(units[b]!)!.apart.add(units[a]!)
  }
  link(torn, clusters, units, pairs)
  const into = new Map<number, number>()
  for (const sides of torn.values()) join(sides, into)
  return clusters.map((cluster, row) => {
    if (!torn.has(cluster)) return cluster
    let side = units[row]!
    for (let next = into.get(side); next !== undefined; next = into.get(side)) side = next
    return side
  })
}

function sidesOf(clusters: Int32Array, units: Int32Array, torn: ReadonlySet<number>): Map<number, Sides> {
  const found = new Map([...torn].map((cluster) => [cluster, new Map() as Sides]))
  for (let row = 0; row < clusters.length; row++) {
    const sides = found.get(clusters[row]!)
    if (!sides) continue
    const side = sides.get(units[row]!)
    if (side) side.size++
    else sides.set(units[row]!, { size: 1, links: new Map(), apart: new Set(), nearest: undefined })
  }
  return found
}

function link(
  torn: ReadonlyMap<number, Sides>,
  clusters: Int32Array,
  units: Int32Array,
  { lefts, rights, above }: Pairs,
): void {
  for (let pair = 0; pair < lefts.length; pair++) {
    const [left, right] = [lefts[pair]!, rights[pair]!]
    if (!(above[pair]! > 0) || clusters[left] !== clusters[right]) continue
    const sides = torn.get(clusters[left]!)
    const [one, other] = [units[left]!, units[right]!]
    if (!sides || one === other) continue
    const [mine, theirs] = [sides.get(one)!.links, sides.get(other)!.links]
    mine.set(other, (mine.get(other) ?? 0) + above[pair]!)
    theirs.set(one, (theirs.get(one) ?? 0) + above[pair]!)
  }
}

/** Joins the best two until none may be; `into` tells where each one went. */
function join(sides: Sides, into: Map<number, number>): void {
  for (const side of sides.values()) side.nearest = nearestOf(sides, side)
  for (let best = bestOf(sides); best; best = bestOf(sides)) {
    const [kept, gone] = best
    into.set(gone, kept)
    absorb(sides, kept, gone)
    // A mean never rises by joining, so whoever was nearest to neither still has its nearest.
    for (const [at, side] of sides) {
      const { other } = side.nearest ?? {}
      if (at === kept || other === kept || other === gone) side.nearest = nearestOf(sides, side)
    }
  }
}

function nearestOf(sides: Sides, { size, links, apart }: Side): Side['nearest'] {
  let best: Side['nearest']
  for (const [other, sum] of links) {
    if (apart.has(other)) continue
    const mean = sum / (size * sides.get(other)!.size)
    if (!best || mean > best.mean || (mean === best.mean && other < best.other)) best = { other, mean }
  }
  return best
}

function bestOf(sides: Sides): readonly [number, number] | undefined {
  let best: readonly [number, number] | undefined
  let highest = 0
  for (const [one, { nearest }] of sides) {
    if (!nearest || nearest.mean < highest) continue
    const pair = [Math.min(one, nearest.other), Math.max(one, nearest.other)] as const
    const isBefore = !best || pair[0] < best[0] || (pair[0] === best[0] && pair[1] < best[1])
    if (nearest.mean > highest || isBefore) best = pair
    highest = nearest.mean
  }
  return best
}

function absorb(sides: Sides, kept: number, gone: number): void {
  const [base, added] = [sides.get(kept)!, sides.get(gone)!]
  base.size += added.size
  for (const [other, sum] of added.links) {
    const theirs = sides.get(other)!.links
    theirs.delete(gone)
    if (other === kept) continue
    base.links.set(other, (base.links.get(other) ?? 0) + sum)
    theirs.set(kept, (theirs.get(kept) ?? 0) + sum)
  }
  for (const enemy of added.apart) {
    base.apart.add(enemy)
    sides.get(enemy)!.apart.delete(gone)
    sides.get(enemy)!.apart.add(kept)
  }
  sides.delete(gone)
}
