// Builds clusters from the engine's clusters and the decisions; a run and a single decision both use it.
import { applyConstraints, type PairConstraint } from '../engine/cluster/constraints.ts'

/** Records are ordered by key, so that ties between links are resolved in the same way for a run and a decision. */
export type DecisionInput = {
  /** The engine's cluster of each record, by key. */
  readonly bases: ReadonlyMap<string, string>
  /** Pairs of records, and the height of their score above the floor. */
  readonly links: readonly { readonly left: string; readonly right: string; readonly above: number }[]
  readonly decisions: readonly PairDecision[]
}

export type PairDecision = { readonly left: string; readonly right: string; readonly is: 'same' | 'different' }

export type DecidedClusters = {
  /** Members in order, clusters in the order of their first member. */
  readonly clusters: readonly (readonly string[])[]
  /** Confirmed pairs that rejected pairs keep apart. */
  readonly overruled: readonly PairDecision[]
}

/** Builds clusters, independent of the order of the arguments. Ignores links and decisions about other records. */
export function clusterWithDecisions({ bases, links, decisions }: DecisionInput): DecidedClusters {
  const keys = [...bases.keys()].sort()
  const rowOf = new Map(keys.map((key, row) => [key, row]))
  const first = new Map<string, number>()
  const clusters = Int32Array.from(keys, (key, row) => {
    const base = bases.get(key) ?? key
    if (!first.has(base)) first.set(base, row)
    return first.get(base) ?? row
  })
  const rowsOf = ({ left, right }: { left: string; right: string }): readonly [number, number] | undefined => {
    const [a, b] = [rowOf.get(left), rowOf.get(right)]
    if (a === undefined || b === undefined || a === b) return undefined
    return a < b ? [a, b] : [b, a]
  }
  const rowLinks = links.flatMap((link) => {
    const rows = rowsOf(link)
    return rows ? [{ rows, above: link.above }] : []
  })
  // Floating-point sums are bit-identical only in one order.
  rowLinks.sort((a, b) => a.rows[0] - b.rows[0] || a.rows[1] - b.rows[1])
  const pairs = {
    lefts: Int32Array.from(rowLinks, ({ rows }) => rows[0]),
    rights: Int32Array.from(rowLinks, ({ rows }) => rows[1]),
    above: Float64Array.from(rowLinks, ({ above }) => above),
  }
  const constraints = decisions.flatMap((decision): PairConstraint[] => {
    const rows = rowsOf(decision)
    return rows ? [{ a: rows[0], b: rows[1], is: decision.is }] : []
  })
  const { clusters: constrained, overruled } = applyConstraints(clusters, pairs, constraints)
  return {
    clusters: groupByCluster(keys, constrained),
    overruled: overruled.map((constraint) => toPairDecision(keys, constraint)),
  }
}

function groupByCluster(keys: readonly string[], clusters: Int32Array): string[][] {
  const groups = new Map<number, string[]>()
  for (const [row, cluster] of clusters.entries()) {
    const members = groups.get(cluster)
    const key = keys[row] ?? ''
    if (members) members.push(key)
    else groups.set(cluster, [key])
  }
  return [...groups.values()]
}

function toPairDecision(keys: readonly string[], { a, b, is }: PairConstraint): PairDecision {
  return { left: keys[a] ?? '', right: keys[b] ?? '', is }
}
