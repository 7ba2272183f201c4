// Which entity each new cluster is: an id stays with the largest part of its records, through merges and splits.

/** Members are keys of records; no two clusters share one. */
export type Cluster = readonly string[]

export type Assigned = {
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
export function assigned(
  clusters: readonly Cluster[],
  old: ReadonlyMap<string, Cluster>,
  since: ReadonlyMap<string, string> = new Map(),
): Assigned[] {
  const entityOf = new Map<string, string>()
  for (const [id, members] of old) for (const member of members) entityOf.set(member, id)
  const shared = clusters.flatMap((members, cluster) => sharedBy(members, cluster, entityOf, old))
  shared.sort(
    (one, other) =>
      other.count - one.count ||
      other.size - one.size ||
      inOrder(since.get(one.id) ?? '', since.get(other.id) ?? '') ||
      inOrder(one.id, other.id) ||
      inOrder(one.first, other.first),
  )
  const idOf = new Map<number, string>()
  const holder = new Map<string, number>()
  for (const { id, cluster } of shared) {
    if (holder.has(id) || idOf.has(cluster)) continue
    holder.set(id, cluster)
    idOf.set(cluster, id)
  }
  const byCluster = clusters.map((): Shared[] => [])
  for (const each of shared) byCluster[each.cluster]?.push(each)
  return byCluster.map((mine, cluster) => {
    const id = idOf.get(cluster)
    const [most] = mine
    return {
      id,
      merged_from: mine.flatMap((each) => (holder.has(each.id) ? [] : [each.id])).sort(inOrder),
      split_from: id === undefined && most && holder.has(most.id) ? most.id : undefined,
    }
  })
}

type Shared = {
  readonly id: string
  readonly cluster: number
  readonly count: number
  readonly size: number
  readonly first: string
}

function sharedBy(
  members: Cluster,
  cluster: number,
  entityOf: ReadonlyMap<string, string>,
  old: ReadonlyMap<string, Cluster>,
): Shared[] {
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
function inOrder(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0
}
