// Joins records that arrived since the run to its clusters, by its weights; the result does not depend on the order of
// arrival.
import { type ArrivalMatching, ArrivalScores, type JoinableRecord, type ScoredRecordPair } from './arrival-scores.ts'
import { type JoinRule, joinByAverageLink, joinByBestLink, type UnitLink } from './unit-links.ts'

/** Reads records of the registry. */
export type RegistryReader = {
  byUid(uids: readonly string[]): Promise<readonly JoinableRecord[]>
  /** All records of these clusters. */
  byBase(bases: readonly string[]): Promise<readonly JoinableRecord[]>
}

export type ArrivalClustering = {
  /** Clusters by name, unchanged ones included; every record read is in one. */
  readonly clusters: readonly { readonly base: string; readonly members: readonly JoinableRecord[] }[]
  /** Pairs with an arrived record that are above the floor or within one cluster. */
  readonly pairs: readonly ScoredRecordPair[]
}

/** Limit of the neighbourhood of arriving records; at the limit, links are followed no further. */
const max_neighbourhood_records = 2_000

/**
 * Depends only on the clusters of the run and on the records that arrived since and are connected to `waiting`:
 * arriving one at a time or all at once, in any order, records come to the same clusters.
 */
export async function joinArrivals(
  of: ArrivalMatching,
  registered: RegistryReader,
  waiting: readonly JoinableRecord[],
): Promise<ArrivalClustering> {
  const scores = new ArrivalScores(of)
  const neighbourhood = await collectNeighbourhood(of, scores, registered, waiting)
  const members = new Map<string, JoinableRecord[]>()
  for (const record of [...neighbourhood.values()].sort(compareByUid)) {
    const unit = unitNameOf(record)
    members.set(unit, [...(members.get(unit) ?? []), record])
  }
  const free = [...neighbourhood.values()].filter(isNotInRun).sort(compareByUid)
  const links = free.flatMap((record) => findLinks(of, scores, neighbourhood, record))
  const clusters = clusterUnits(of, scores, members, links)
  const joined = clusters.map((units) => nameCluster(units, members))
  return { clusters: joined, pairs: scores.listPairs(new Set(waiting.map(({ uid }) => uid)), joined, of.weights.floor) }
}

function isNotInRun({ found }: JoinableRecord): boolean {
  return found === undefined
}

function unitNameOf({ uid, found }: JoinableRecord): string {
  return found ?? singletonClusterName(uid)
}

/** The name of the cluster of a single arrived record; no run uses such a name. */
export function singletonClusterName(uid: string): string {
  return `${uid}_new`
}

function compareByUid(one: JoinableRecord, other: JoinableRecord): number {
  return one.uid < other.uid ? -1 : 1
}

/** Closed under two relations: records of one cluster, and records that an arrived record is linked to. */
async function collectNeighbourhood(
  { weights }: ArrivalMatching,
  scores: ArrivalScores,
  registered: RegistryReader,
  waiting: readonly JoinableRecord[],
): Promise<Map<string, JoinableRecord>> {
  const neighbourhood = new Map(waiting.map((record) => [record.uid, record]))
  const queried = new Set<string>()
  let queue: readonly JoinableRecord[] = waiting
  while (queue.length > 0) {
    const near = queue.flatMap((record) => scores.findCandidates(record).filter(({ score }) => score > weights.floor))
    const missing = [...new Set(near.map(({ uid }) => uid))].filter((uid) => !neighbourhood.has(uid))
    const linked = await registered.byUid(missing)
    const bases = new Set([...queue, ...linked].map(({ base }) => base))
    const members = await registered.byBase([...bases].filter((base) => !queried.has(base)))
    for (const base of bases) queried.add(base)
    const fresh = new Map([...linked, ...members].map((record) => [record.uid, record]))
    for (const uid of neighbourhood.keys()) fresh.delete(uid)
    for (const [uid, record] of fresh) neighbourhood.set(uid, record)
    queue = neighbourhood.size > max_neighbourhood_records ? [] : [...fresh.values()].filter(isNotInRun)
  }
  return neighbourhood
}

function findLinks(
  { weights }: ArrivalMatching,
  scores: ArrivalScores,
  neighbourhood: ReadonlyMap<string, JoinableRecord>,
  record: JoinableRecord,
): UnitLink[] {
  return scores.findCandidates(record).flatMap(({ uid, score: near }) => {
    const other = near > weights.floor ? neighbourhood.get(uid) : undefined
    const score = other && scores.scorePair(record, other)?.score
    if (!other || score === undefined || score <= weights.floor) return []
    return [{ one: unitNameOf(record), other: unitNameOf(other), score }]
  })
}

function clusterUnits(
  matching: ArrivalMatching,
  scores: ArrivalScores,
  members: ReadonlyMap<string, readonly JoinableRecord[]>,
  links: readonly UnitLink[],
): string[][] {
  const { weights, method } = matching
  const of = (unit: string) => members.get(unit) ?? []
  const names = [...members.keys()].sort()
  const mayJoin = createJoinRule(matching, of)
  if (method !== 'average_link') return joinByBestLink({ names }, links, weights.cut, mayJoin)
  const need = weights.cut - weights.floor
  return joinByAverageLink(
    { names },
    links,
    (one, other) => scores.sumScores(one, of(one), other, of(other)),
    need,
    mayJoin,
  )
}

/**
 * One to one joins two records of one source at most; of several sources that hold each entity once, one record of
 * each. No method joins records that a decision keeps apart.
 */
function createJoinRule(matching: ArrivalMatching, of: (unit: string) => readonly JoinableRecord[]): JoinRule {
  const { lens, method, isOneSource, isApart } = matching
  return (one, other) => {
    const [mine, theirs] = [one.flatMap(of), other.flatMap(of)]
    if (isApart && mine.some((each) => theirs.some((their) => isApart(each, their)))) return false
    if (method !== 'one_to_one') return true
    const all = [...mine, ...theirs]
    const nodes = new Set(all.map(({ ref }) => ref.node_id))
    return lens.clustering === 'one_to_one' || isOneSource ? all.length <= 2 : nodes.size === all.length
  }
}

/** Names a cluster after its first cluster of the run, or else after its first record. */
function nameCluster(
  units: readonly string[],
  members: ReadonlyMap<string, readonly JoinableRecord[]>,
): ArrivalClustering['clusters'][number] {
  const all = units.flatMap((unit) => members.get(unit) ?? []).sort(compareByUid)
  const runs = all.flatMap(({ found }) => found ?? []).sort()
  return { base: runs[0] ?? singletonClusterName(all[0]?.uid ?? ''), members: all }
}
