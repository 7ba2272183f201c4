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
 * Deterministic, independent of the order of decisions. A confirmed pair joins its two clusters; a rejected pair splits
 * its cluster, and every other row goes to the side with the stronger average link. Where decisions contradict each
 * other, rejections win, and confirmed pairs apply in the order of rows. Clusters without a decision stay as they are.
 * `pairs` are scored as for `averageLink`. Throws `RangeError` for a decision about a row and itself.
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

/** Each pair once, in a fixed order; a pair both confirmed and rejected stays in both lists. */
function sortConstraints(constraints: readonly PairConstraint[]): {
  same: PairConstraint[]
  different: PairConstraint[]
} {
  const byPair = new Map<string, PairConstraint>()
  for (const { a, b, is } of constraints) {
    if (a === b) throw new RangeError(`a decision about row ${a} and itself`)
    const [low, high] = [Math.min(a, b), Math.max(a, b)]
    byPair.set(`${low} ${high} ${is}`, { a: low, b: high, is })
  }
  const all = [...byPair.values()].sort((one, other) => one.a - other.a || one.b - other.b)
  return { same: all.filter(({ is }) => is === 'same'), different: all.filter(({ is }) => is === 'different') }
}

/** Joins whole clusters by confirmed pairs; rejected pairs among them are split afterwards. */
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

/**
 * Units of rows joined by confirmed pairs, named by their lowest row; a pair that would join a rejected pair is
 * overruled.
 */
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
