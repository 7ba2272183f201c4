// Where records belong that came since the run: among what it put together, by its weights, whatever the order in which they came.
import { type ArrivalMatching, ArrivalScores, type JoinableRecord, type ScoredRecordPair } from './arrival-scores.ts'
import { type JoinRule, joinByAverageLink, joinByBestLink, type UnitLink } from './unit-links.ts'

/** How records of the registry are read. */
export type RegistryReader = {
  byUid(uids: readonly string[]): Promise<readonly JoinableRecord[]>
  /** All that are in one of these clusters. */
  byBase(bases: readonly string[]): Promise<readonly JoinableRecord[]>
}

export type ArrivalClustering = {
  /** Clusters under their names, those that stay as they are too; every record that was looked at is in one. */
  readonly clusters: readonly { readonly base: string; readonly members: readonly JoinableRecord[] }[]
  /** Pairs of a record that came since which say something, or are in one cluster. */
  readonly pairs: readonly ScoredRecordPair[]
}

/** Records around those that arrive; beyond, nothing more is asked which others they bring along. */
const max_neighbourhood_records = 2_000

/**
 * A pure function of the clusters of the run and of all records that came since, as far as those hang together with `waiting`:
 * one at a time or all at once, in any order, they come to the same clusters.
 */
export async function joinArrivals(
  of: ArrivalMatching,
  registered: RegistryReader,
  waiting: readonly JoinableRecord[],
): Promise<ArrivalClustering> {
  const scores = new ArrivalScores(of)
  const around = await collectNeighbourhood(of, scores, registered, waiting)
  const members = new Map<string, JoinableRecord[]>()
  for (const record of [...around.values()].sort(compareByUid)) {
    const unit = unitNameOf(record)
    members.set(unit, [...(members.get(unit) ?? []), record])
  }
  const free = [...around.values()].filter(isNotInRun).sort(compareByUid)
  const links = free.flatMap((record) => findLinks(of, scores, around, record))
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

/** The name of the cluster of one record that came by itself: no run gives it. */
export function singletonClusterName(uid: string): string {
  return `${uid}_new`
}

function compareByUid(one: JoinableRecord, other: JoinableRecord): number {
  return one.uid < other.uid ? -1 : 1
}

/** Closed under two things: records of one cluster, and those that a record which came since is linked to. */
async function collectNeighbourhood(
  { weights }: ArrivalMatching,
  scores: ArrivalScores,
  registered: RegistryReader,
  waiting: readonly JoinableRecord[],
): Promise<Map<string, JoinableRecord>> {
  const around = new Map(waiting.map((record) => [record.uid, record]))
  const asked = new Set<string>()
  let queue: readonly JoinableRecord[] = waiting
  while (queue.length > 0) {
    const near = queue.flatMap((record) => scores.findCandidates(record).filter(({ score }) => score > weights.floor))
    const wanted = [...new Set(near.map(({ uid }) => uid))].filter((uid) => !around.has(uid))
    const linked = await registered.byUid(wanted)
    const bases = new Set([...queue, ...linked].map(({ base }) => base))
    const members = await registered.byBase([...bases].filter((base) => !asked.has(base)))
    for (const base of bases) asked.add(base)
    const fresh = new Map([...linked, ...members].map((record) => [record.uid, record]))
    for (const uid of around.keys()) fresh.delete(uid)
    for (const [uid, record] of fresh) around.set(uid, record)
    queue = around.size > max_neighbourhood_records ? [] : [...fresh.values()].filter(isNotInRun)
  }
  return around
}

function findLinks(
  { weights }: ArrivalMatching,
  scores: ArrivalScores,
  around: ReadonlyMap<string, JoinableRecord>,
  record: JoinableRecord,
): UnitLink[] {
  return scores.findCandidates(record).flatMap(({ uid, score: near }) => {
    const other = near > weights.floor ? around.get(uid) : undefined
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
 * One to one, two records of one source at most; of several sources that hold each thing once, one record of each. By no method
 * two that were decided to be apart.
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

/** Under the name of the first cluster of the run that is in it, else of the first record. */
function nameCluster(
  units: readonly string[],
  members: ReadonlyMap<string, readonly JoinableRecord[]>,
): ArrivalClustering['clusters'][number] {
  const all = units.flatMap((unit) => members.get(unit) ?? []).sort(compareByUid)
  const runs = all.flatMap(({ found }) => found ?? []).sort()
  return { base: runs[0] ?? singletonClusterName(all[0]?.uid ?? ''), members: all }
}
