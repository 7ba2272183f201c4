// Assigns entity ids to new clusters: an id stays with the largest part of its records, through merges and splits.

/** Members are keys of records; no two clusters share one. */
export type ClusterMemberKeys = readonly string[]

export type EntityAssignment = {
  /** The entity whose id the cluster keeps; undefined for a cluster that needs a new id. */
  readonly id: string | undefined
  /** Entities whose id no cluster keeps and that have a record in this cluster. */
  readonly merged_from: readonly string[]
  /** The entity that had most of the records, where another cluster keeps its id. */
  readonly split_from: string | undefined
}

/**
 * Deterministic, whatever the order of clusters and members. The pair of old entity and new cluster with the most
 * shared records is assigned first. Ties go to the larger old entity (so that a merge keeps the id of the larger one),
 * then to the older one (so that undoing a split restores the ids), then to the lower id, then to the cluster with the
 * lower first member. `since`: when each old entity was created, as text that sorts. `old`: all members of each entity
 * that has a record in any of the clusters.
 */
export function assignEntities(
  clusters: readonly ClusterMemberKeys[],
  old: ReadonlyMap<string, ClusterMemberKeys>,
  since: ReadonlyMap<string, string> = new Map(),
): EntityAssignment[] {
  const entityOf = new Map<string, string>()
  for (const [id, members] of old) for (const member of members) entityOf.set(member, id)
  const shared = clusters.flatMap((members, cluster) => countOverlaps(members, cluster, entityOf, old))
  shared.sort(
    (one, other) =>
      other.count - one.count ||
      other.size - one.size ||
      compareCodeUnits(since.get(one.id) ?? '', since.get(other.id) ?? '') ||
      compareCodeUnits(one.id, other.id) ||
      compareCodeUnits(one.first, other.first),
  )
  const idOf = new Map<number, string>()
  const holder = new Map<string, number>()
  for (const { id, cluster } of shared) {
    if (holder.has(id) || idOf.has(cluster)) continue
    holder.set(id, cluster)
    idOf.set(cluster, id)
  }
  const byCluster = clusters.map((): EntityOverlap[] => [])
  for (const each of shared) byCluster[each.cluster]?.push(each)
  return byCluster.map((mine, cluster) => {
    const id = idOf.get(cluster)
    const [largest] = mine
    return {
      id,
      merged_from: mine.flatMap((each) => (holder.has(each.id) ? [] : [each.id])).sort(compareCodeUnits),
      split_from: id === undefined && largest && holder.has(largest.id) ? largest.id : undefined,
    }
  })
}

type EntityOverlap = {
  readonly id: string
  readonly cluster: number
  readonly count: number
  readonly size: number
  readonly first: string
}

function countOverlaps(
  members: ClusterMemberKeys,
  cluster: number,
  entityOf: ReadonlyMap<string, string>,
  old: ReadonlyMap<string, ClusterMemberKeys>,
): EntityOverlap[] {
  const counts = new Map<string, number>()
  let first = members[0] ?? ''
  for (const member of members) {
    if (member < first) first = member
    const id = entityOf.get(member)
    if (id !== undefined) counts.set(id, (counts.get(id) ?? 0) + 1)
  }
  return [...counts].map(([id, count]) => ({ id, cluster, count, size: old.get(id)?.length ?? 0, first }))
}

/** Compares by code units, which is the same on every machine. */
function compareCodeUnits(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0
}
