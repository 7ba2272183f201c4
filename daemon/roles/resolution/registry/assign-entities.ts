// Assigns entity ids to new clusters: an id stays with the largest part of its records, through merges and splits.

/** Keys of the member records of a cluster; no two clusters share one. */
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
 * Assigns ids, independent of the order of clusters and members. The pair of old entity and new cluster with the most
 * shared records is assigned first. Ties go to the larger old entity (so that a merge keeps its id), then to the older
 * one (so that undoing a split restores the ids), then to the lower id, then to the cluster with the lower first
 * member. `since`: creation time of each old entity, as sortable text. `old`: all members of each entity that has a
 * record in any of the clusters.
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
    (a, b) =>
      b.count - a.count ||
      b.size - a.size ||
      compareCodeUnits(since.get(a.id) ?? '', since.get(b.id) ?? '') ||
      compareCodeUnits(a.id, b.id) ||
      compareCodeUnits(a.first, b.first),
  )
  const idOf = new Map<number, string>()
  const clusterOfId = new Map<string, number>()
  for (const { id, cluster } of shared) {
    if (clusterOfId.has(id) || idOf.has(cluster)) continue
    clusterOfId.set(id, cluster)
    idOf.set(cluster, id)
  }
  const byCluster = clusters.map((): EntityOverlap[] => [])
  for (const overlap of shared) byCluster[overlap.cluster]?.push(overlap)
  return byCluster.map((overlaps, cluster) => {
    const id = idOf.get(cluster)
    const [largest] = overlaps
    return {
      id,
      merged_from: overlaps
        .flatMap((overlap) => (clusterOfId.has(overlap.id) ? [] : [overlap.id]))
        .sort(compareCodeUnits),
      split_from: id === undefined && largest && clusterOfId.has(largest.id) ? largest.id : undefined,
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

/** Compares by code units, independent of the locale of the machine. */
function compareCodeUnits(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0
}
