// Applies decisions about pairs to clusters: separates rejected pairs and joins confirmed ones.
import { DisjointSets, type WeightedPairs } from './disjoint-sets.ts'
import { splitClusters } from './split.ts'

/** A decision about two rows: they are one entity (`same`), or they are not (`different`). */
export type PairConstraint = { readonly a: number; readonly b: number; readonly is: 'same' | 'different' }

export type ConstrainedClusters = {
  /** The lowest row of each row's cluster. */
  readonly clusters: Int32Array
  /** Confirmed pairs that stay apart, because joining them would join a rejected pair. */
  readonly overruled: readonly PairConstraint[]
}

/**
 * Applies decisions, independent of their order. A confirmed pair joins its two clusters; a rejected pair splits its
 * cluster, and every other row goes to the side with the stronger average link. If decisions contradict each other,
 * rejections win, and confirmed pairs apply in the order of rows. Clusters without a decision stay unchanged. `pairs`
 * are scored as for `clusterByAverageLink`. Throws `RangeError` for a decision about a row and itself.
 */
export function applyConstraints(
  clusters: Int32Array,
  pairs: WeightedPairs,
  constraints: readonly PairConstraint[],
): ConstrainedClusters {
  if (constraints.length === 0) return { clusters, overruled: [] }
  const { same, different } = sortConstraints(constraints)
  const units = buildUnits(clusters.length, same, different)
  const joined = joinConfirmed(
    clusters,
    same.filter((pair) => !units.overruled.includes(pair)),
  )
  const apart = different.filter(({ a, b }) => joined[a] === joined[b])
  const split = splitClusters(joined, pairs, units.unitOf, apart)
  return { clusters: split, overruled: units.overruled }
}

/** Sorts decisions by kind, each pair once, in a fixed order; a pair both confirmed and rejected is in both lists. */
function sortConstraints(constraints: readonly PairConstraint[]): {
  same: PairConstraint[]
  different: PairConstraint[]
} {
  const byPair = new Map<string, PairConstraint>()
  for (const { a, b, is } of constraints) {
    if (a === b) throw new RangeError(`a decision must name two rows, and names row ${a} twice`)
    const [low, high] = [Math.min(a, b), Math.max(a, b)]
    byPair.set(`${low} ${high} ${is}`, { a: low, b: high, is })
  }
  const sorted = [...byPair.values()].sort((left, right) => left.a - right.a || left.b - right.b)
  return { same: sorted.filter(({ is }) => is === 'same'), different: sorted.filter(({ is }) => is === 'different') }
}

/** Joins whole clusters by confirmed pairs; rejected pairs inside them are split afterwards. */
function joinConfirmed(clusters: Int32Array, same: readonly PairConstraint[]): Int32Array {
  const groups = new DisjointSets(clusters.length)
  for (const [row, cluster] of clusters.entries()) if (cluster !== row) joinRows(groups, cluster, row)
  for (const { a, b } of same) joinRows(groups, a, b)
  return groups.lowest()
}

function joinRows(groups: DisjointSets, a: number, b: number): void {
  const [left, right] = [groups.find(a), groups.find(b)]
  if (left !== right) groups.join(Math.min(left, right), Math.max(left, right))
}

/**
 * Builds units of rows joined by confirmed pairs, named by their lowest row; a pair that would join a rejected pair is
 * overruled.
 */
function buildUnits(rows: number, same: readonly PairConstraint[], different: readonly PairConstraint[]) {
  const groups = new DisjointSets(rows)
  const rejected = new Map<number, Set<number>>()
  const rejectedOf = (unit: number) => rejected.get(unit) ?? new Set<number>()
  for (const { a, b } of different) {
    rejected.set(a, rejectedOf(a).add(b))
    rejected.set(b, rejectedOf(b).add(a))
  }
  const overruled: PairConstraint[] = []
  for (const pair of same) {
    const [left, right] = [groups.find(pair.a), groups.find(pair.b)]
    if (left === right) continue
    if (rejectedOf(left).has(right)) {
      overruled.push(pair)
      continue
    }
    const [target, joined] = [Math.min(left, right), Math.max(left, right)]
    groups.join(target, joined)
    for (const other of rejectedOf(joined)) {
      rejected.set(other, rejectedOf(other).add(target))
      rejectedOf(other).delete(joined)
      rejected.set(target, rejectedOf(target).add(other))
    }
    rejected.delete(joined)
  }
  return { unitOf: groups.lowest(), overruled }
}
