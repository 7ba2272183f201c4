// Which entity each new cluster is: an id stays with the largest part of its records, through merges and splits.

/** Members are keys of records; no two clusters share one. */
export type ClusterMemberKeys = readonly string[]

export type EntityAssignment = {
  /** The entity that the cluster goes on as; undefined for one that needs a new id. */
  readonly id: string | undefined
  /** Entities whose id no cluster keeps, and of which a record is in this one. */
  readonly merged_from: readonly string[]
  /** The entity that most of its records were of, where another cluster keeps the id. */
  readonly split_from: string | undefined
}

/**
 * Deterministic, whatever the order of clusters and members. The pair of old entity and new cluster with the most records in
 * common is settled first; of equal ones the old entity that is larger (so that a merge keeps the id of the larger one),
 * then the older one (so that a split taken back is as it was), then the one with the lower id, then the cluster with the lower
 * first member. `since`: when each old entity was made, as text that sorts. `old`: members by id of each entity that
 * has a record in any of the clusters, with all of its members.
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
    const [most] = mine
    return {
      id,
      merged_from: mine.flatMap((each) => (holder.has(each.id) ? [] : [each.id])).sort(compareCodeUnits),
      split_from: id === undefined && most && holder.has(most.id) ? most.id : undefined,
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

/** As code units, the same on every machine. */
function compareCodeUnits(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0
}
