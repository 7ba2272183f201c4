// What people decided about pairs, laid over the clusters that were found: rejected pairs apart, confirmed ones together.
import { DisjointSets, type WeightedPairs } from './disjoint-sets.ts'
import { splitClusters } from './split.ts'

/** A decision about two rows: that they are one (`same`), or that they are not (`cannotLink`). */
export type PairConstraint = { readonly a: number; readonly b: number; readonly is: 'same' | 'different' }

export type ConstrainedClusters = {
  /** The lowest row of each row's cluster. */
  readonly clusters: Int32Array
  /** Confirmed pairs that are apart all the same, since together they would join a rejected pair. */
  readonly overruled: readonly PairConstraint[]
}

/**
 * Deterministic, whatever the order of the decisions. A confirmed pair joins its two clusters; a rejected pair splits its
 * cluster, and every other row goes to the side with the stronger average link. Where decisions contradict each other, the
 * rejects win, and confirmed pairs hold from the first in the order of rows on. Clusters without a decision stay as they
 * are. `scoredPairs`: scored as for `clusterByAverageLink`. Throws `RangeError` for a decision about a row and itself.
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
  const split = splitClusters(joined, pairs, units.of, apart)
  return { clusters: split, overruled: units.overruled }
}

/** Each pair once and in one order; what is both confirmed and rejected stays in both lists. */
function sortConstraints(constraints: readonly PairConstraint[]): {
  same: PairConstraint[]
  different: PairConstraint[]
} {
  const kept = new Map<string, PairConstraint>()
  for (const { a, b, is } of constraints) {
    if (a === b) throw new RangeError(`a decision about row ${a} and itself`)
    const [low, high] = [Math.min(a, b), Math.max(a, b)]
    kept.set(`${low} ${high} ${is}`, { a: low, b: high, is })
  }
  const all = [...kept.values()].sort((one, other) => one.a - other.a || one.b - other.b)
  return { same: all.filter(({ is }) => is === 'same'), different: all.filter(({ is }) => is === 'different') }
}

/** Whole clusters, joined by confirmed pairs: what is rejected among them is split afterwards. */
function joinConfirmed(clusters: Int32Array, same: readonly PairConstraint[]): Int32Array {
  const groups = new DisjointSets(clusters.length)
  for (const [row, cluster] of clusters.entries()) if (cluster !== row) joinRows(groups, cluster, row)
  for (const { a, b } of same) joinRows(groups, a, b)
  return groups.lowest()
}

function joinRows(groups: DisjointSets, a: number, b: number): void {
  const [one, other] = [groups.find(a), groups.find(b)]
  if (one !== other) groups.join(Math.min(one, other), Math.max(one, other))
}

/** Rows that confirmed pairs make one, as their lowest; a pair that would bring a rejected one together is left out. */
function buildUnits(rows: number, same: readonly PairConstraint[], different: readonly PairConstraint[]) {
  const groups = new DisjointSets(rows)
  const enemies = new Map<number, Set<number>>()
  const enemiesOf = (unit: number) => enemies.get(unit) ?? new Set<number>()
  for (const { a, b } of different) {
    enemies.set(a, enemiesOf(a).add(b))
    enemies.set(b, enemiesOf(b).add(a))
  }
  const overruled: PairConstraint[] = []
  for (const pair of same) {
    const [one, other] = [groups.find(pair.a), groups.find(pair.b)]
    if (one === other) continue
    if (enemiesOf(one).has(other)) {
      overruled.push(pair)
      continue
    }
    const [into, gone] = [Math.min(one, other), Math.max(one, other)]
    groups.join(into, gone)
    for (const enemy of enemiesOf(gone)) {
      enemies.set(enemy, enemiesOf(enemy).add(into))
      enemiesOf(enemy).delete(gone)
      enemies.set(into, enemiesOf(into).add(enemy))
    }
    enemies.delete(gone)
  }
  return { of: groups.lowest(), overruled }
}
