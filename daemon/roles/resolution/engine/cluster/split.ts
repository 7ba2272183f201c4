// Splits clusters that contain a rejected pair: by average link, never with both rows of such a pair on one side.
import type { PairConstraint } from './constraints.ts'
import type { WeightedPairs } from './disjoint-sets.ts'

/** A side under construction: its rows, its links to other sides, and the sides that it may not be joined with. */
type SplitSide = {
  size: number
  readonly links: Map<number, number>
  readonly apart: Set<number>
  nearest: { readonly other: number; readonly mean: number } | undefined
}
/** Sides of one cluster, by their lowest row. */
type SplitSides = Map<number, SplitSide>

/**
 * Splits the clusters that contain a pair of `apart`. `units`: rows that stay together, by their lowest row. Within
 * each, joins the sides with the highest mean link first, ties by the lowest rows, while links remain and no pair of
 * `apart` is between.
 */
export function splitClusters(
  clusters: Int32Array,
  pairs: WeightedPairs,
  units: Int32Array,
  apart: readonly PairConstraint[],
): Int32Array {
  const affected = buildSides(clusters, units, new Set(apart.map(({ a }) => clusters[a]!)))
  if (affected.size === 0) return clusters
  for (const { a, b } of apart) {
    const sides = affected.get(clusters[a]!)!
    sides.get(units[a]!)!.apart.add(units[b]!)
    sides.get(units[b]!)!.apart.add(units[a]!)
  }
  linkSides(affected, clusters, units, pairs)
  const into = new Map<number, number>()
  for (const sides of affected.values()) joinSides(sides, into)
  return clusters.map((cluster, row) => {
    if (!affected.has(cluster)) return cluster
    let side = units[row]!
    for (let next = into.get(side); next !== undefined; next = into.get(side)) side = next
    return side
  })
}

function buildSides(clusters: Int32Array, units: Int32Array, affected: ReadonlySet<number>): Map<number, SplitSides> {
  const sidesOf = new Map([...affected].map((cluster) => [cluster, new Map() as SplitSides]))
  for (let row = 0; row < clusters.length; row++) {
    const sides = sidesOf.get(clusters[row]!)
    if (!sides) continue
    const side = sides.get(units[row]!)
    if (side) side.size++
    else sides.set(units[row]!, { size: 1, links: new Map(), apart: new Set(), nearest: undefined })
  }
  return sidesOf
}

function linkSides(
  affected: ReadonlyMap<number, SplitSides>,
  clusters: Int32Array,
  units: Int32Array,
  { lefts, rights, above }: WeightedPairs,
): void {
  for (let pair = 0; pair < lefts.length; pair++) {
    const [left, right] = [lefts[pair]!, rights[pair]!]
    if (!(above[pair]! > 0) || clusters[left] !== clusters[right]) continue
    const sides = affected.get(clusters[left]!)
    const [leftUnit, rightUnit] = [units[left]!, units[right]!]
    if (!sides || leftUnit === rightUnit) continue
    const [leftLinks, rightLinks] = [sides.get(leftUnit)!.links, sides.get(rightUnit)!.links]
    leftLinks.set(rightUnit, (leftLinks.get(rightUnit) ?? 0) + above[pair]!)
    rightLinks.set(leftUnit, (rightLinks.get(leftUnit) ?? 0) + above[pair]!)
  }
}

/** Joins the best two sides until none may be joined; `into` records the target of each joined side. */
function joinSides(sides: SplitSides, into: Map<number, number>): void {
  for (const side of sides.values()) side.nearest = findNearestSide(sides, side)
  for (let best = findBestPair(sides); best; best = findBestPair(sides)) {
    const [target, absorbed] = best
    into.set(absorbed, target)
    mergeSides(sides, target, absorbed)
    // A mean never rises by joining, so a side whose nearest was neither of the two keeps it.
    for (const [at, side] of sides) {
      const { other } = side.nearest ?? {}
      if (at === target || other === target || other === absorbed) side.nearest = findNearestSide(sides, side)
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
  for (const [side, { nearest }] of sides) {
    if (!nearest || nearest.mean < highest) continue
    const pair = [Math.min(side, nearest.other), Math.max(side, nearest.other)] as const
    const isBefore = !best || pair[0] < best[0] || (pair[0] === best[0] && pair[1] < best[1])
    if (nearest.mean > highest || isBefore) best = pair
    highest = nearest.mean
  }
  return best
}

function mergeSides(sides: SplitSides, target: number, absorbed: number): void {
  const [base, added] = [sides.get(target)!, sides.get(absorbed)!]
  base.size += added.size
  for (const [other, sum] of added.links) {
    const otherLinks = sides.get(other)!.links
    otherLinks.delete(absorbed)
    if (other === target) continue
    base.links.set(other, (base.links.get(other) ?? 0) + sum)
    otherLinks.set(target, (otherLinks.get(target) ?? 0) + sum)
  }
  for (const other of added.apart) {
    base.apart.add(other)
    sides.get(other)!.apart.delete(absorbed)
    sides.get(other)!.apart.add(target)
  }
  sides.delete(absorbed)
}
