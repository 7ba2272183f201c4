// Splits clusters that hold a rejected pair: by average link, but never with the two of such a pair on one side.
import type { PairConstraint } from './constraints.ts'
import type { WeightedPairs } from './disjoint-sets.ts'

/** A side that is being built: how many rows it has, what links it to others, and with which it may not be joined. */
type SplitSide = {
  size: number
  readonly links: Map<number, number>
  readonly apart: Set<number>
  nearest: { readonly other: number; readonly mean: number } | undefined
}
/** Sides of one cluster by their lowest row. */
type SplitSides = Map<number, SplitSide>

/**
 * `readClusters` with those split that hold a pair of `createIncompatibleSignals`; all others stay. `ageUnits`: rows that stay together, by their
 * lowest. Sides are joined, the pair with the highest mean link first, of equal ones that with the lowest rows, for as long as
 * something links them at all and no pair of `createIncompatibleSignals` is between.
 */
export function splitClusters(
  clusters: Int32Array,
  pairs: WeightedPairs,
  units: Int32Array,
  apart: readonly PairConstraint[],
): Int32Array {
  const torn = buildSides(clusters, units, new Set(apart.map(({ a }) => clusters[a]!)))
  if (torn.size === 0) return clusters
  for (const { a, b } of apart) {
    const sides = torn.get(clusters[a]!)!
    sides.get(units[a]!)!.apart.add(units[b]!)
    sides.get(units[b]!)!.apart.add(units[a]!)
  }
  linkSides(torn, clusters, units, pairs)
  const into = new Map<number, number>()
  for (const sides of torn.values()) joinSides(sides, into)
  return clusters.map((cluster, row) => {
    if (!torn.has(cluster)) return cluster
    let side = units[row]!
    for (let next = into.get(side); next !== undefined; next = into.get(side)) side = next
    return side
  })
}

function buildSides(clusters: Int32Array, units: Int32Array, torn: ReadonlySet<number>): Map<number, SplitSides> {
  const found = new Map([...torn].map((cluster) => [cluster, new Map() as SplitSides]))
  for (let row = 0; row < clusters.length; row++) {
    const sides = found.get(clusters[row]!)
    if (!sides) continue
    const side = sides.get(units[row]!)
    if (side) side.size++
    else sides.set(units[row]!, { size: 1, links: new Map(), apart: new Set(), nearest: undefined })
  }
  return found
}

function linkSides(
  torn: ReadonlyMap<number, SplitSides>,
  clusters: Int32Array,
  units: Int32Array,
  { lefts, rights, above }: WeightedPairs,
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
function joinSides(sides: SplitSides, into: Map<number, number>): void {
  for (const side of sides.values()) side.nearest = findNearestSide(sides, side)
  for (let best = findBestPair(sides); best; best = findBestPair(sides)) {
    const [kept, gone] = best
    into.set(gone, kept)
    mergeSides(sides, kept, gone)
    // A mean never rises by joining, so whoever was nearest to neither still has its nearest.
    for (const [at, side] of sides) {
      const { other } = side.nearest ?? {}
      if (at === kept || other === kept || other === gone) side.nearest = findNearestSide(sides, side)
    }
  }
}

function findNearestSide(sides: SplitSides, { size, links, apart }: SplitSide): SplitSide['nearest'] {
  let best: SplitSide['nearest']
  for (const [other, sum] of links) {
    if (apart.has(other)) continue
    const mean = sum / (size * sides.get(other)!.size)
    if (!best || mean > best.mean || (mean === best.mean && other < best.other)) best = { other, mean }
  }
  return best
}

function findBestPair(sides: SplitSides): readonly [number, number] | undefined {
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

function mergeSides(sides: SplitSides, kept: number, gone: number): void {
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
