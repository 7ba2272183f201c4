// Joins records that arrived since the run to its clusters, with its weights; the result does not depend on the order
// of arrival.
import { hasEvidence } from '../engine/lookup/compare.ts'
import { type ArrivalMatching, ArrivalScores, type JoinableRecord, type ScoredRecordPair } from './arrival-scores.ts'
import { singletonClusterName } from './record-key.ts'
import { type JoinRule, joinByAverageLink, joinByBestLink, type Pause, type UnitLink } from './unit-links.ts'

/** Reads records of the registry. */
export type RegistryReader = {
  byUid(uids: readonly string[]): Promise<readonly JoinableRecord[]>
  /** Reads all records of these clusters. */
  byBase(bases: readonly string[]): Promise<readonly JoinableRecord[]>
}

export type ArrivalClustering = {
  /** Clusters by name, including unchanged ones; every record read is in one. */
  readonly clusters: readonly { readonly base: string; readonly members: readonly JoinableRecord[] }[]
  /** Pairs with an arrived record, if they are above the floor or within one cluster. */
  readonly pairs: readonly ScoredRecordPair[]
}

/** Limit of the neighbourhood of arriving records; beyond it, links are not followed. */
const max_neighbourhood_records = 2_000

/**
 * Clusters the waiting records. The result depends only on the clusters of the run and on the arrived records connected
 * to `waiting`: records that arrive one at a time or all at once, in any order, end in the same clusters. `pause` lets
 * other work of the thread continue, and may throw.
 */
export async function joinArrivals(
  matching: ArrivalMatching,
  registered: RegistryReader,
  waiting: readonly JoinableRecord[],
  pause: Pause = async () => undefined,
): Promise<ArrivalClustering> {
  const scores = new ArrivalScores(matching)
  const neighbourhood = await collectNeighbourhood(matching, scores, registered, waiting, pause)
  const members = new Map<string, JoinableRecord[]>()
  for (const record of [...neighbourhood.values()].sort(compareByUid)) {
    const unit = unitNameOf(record)
    const unitMembers = members.get(unit)
    if (unitMembers) unitMembers.push(record)
    else members.set(unit, [record])
  }
  const arrived = [...neighbourhood.values()].filter(isNotInRun).sort(compareByUid)
  const links: UnitLink[] = []
  for (const record of arrived) {
    links.push(...findLinks(matching, scores, neighbourhood, record))
    await pause()
  }
  const units = await clusterUnits(matching, scores, members, links, pause)
  const clusters = units.map((names) => nameCluster(names, members))
  const waitingUids = new Set(waiting.map(({ uid }) => uid))
  return { clusters, pairs: scores.listPairs(waitingUids, clusters, matching.weights.floor) }
}

function isNotInRun({ runBase }: JoinableRecord): boolean {
  return runBase === undefined
}

function unitNameOf({ uid, runBase }: JoinableRecord): string {
  return runBase ?? singletonClusterName(uid)
}

function compareByUid(left: JoinableRecord, right: JoinableRecord): number {
  return left.uid < right.uid ? -1 : 1
}

/**
 * Collects the closure of `waiting` under two relations: records of one cluster, and records linked to an arrived one.
 */
async function collectNeighbourhood(
  { weights }: ArrivalMatching,
  scores: ArrivalScores,
  registered: RegistryReader,
  waiting: readonly JoinableRecord[],
  pause: Pause,
): Promise<Map<string, JoinableRecord>> {
  const neighbourhood = new Map(waiting.map((record) => [record.uid, record]))
  const queried = new Set<string>()
  let queue: readonly JoinableRecord[] = waiting
  while (queue.length > 0) {
    const near = new Set<string>()
    for (const record of queue) {
      for (const { uid, score } of scores.findCandidates(record)) if (score > weights.floor) near.add(uid)
      await pause()
    }
    const missing = [...near].filter((uid) => !neighbourhood.has(uid))
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
  { lens, weights }: ArrivalMatching,
  scores: ArrivalScores,
  neighbourhood: ReadonlyMap<string, JoinableRecord>,
  record: JoinableRecord,
): UnitLink[] {
  return scores.findCandidates(record).flatMap(({ uid, score: candidateScore }) => {
    const other = candidateScore > weights.floor ? neighbourhood.get(uid) : undefined
    const comparison = other && scores.scorePair(record, other)
    if (!comparison || comparison.score <= weights.floor || !hasEvidence(lens, comparison)) return []
    return [{ from: unitNameOf(record), to: unitNameOf(other), score: comparison.score }]
  })
}

async function clusterUnits(
  matching: ArrivalMatching,
  scores: ArrivalScores,
  members: ReadonlyMap<string, readonly JoinableRecord[]>,
  links: readonly UnitLink[],
  pause: Pause,
): Promise<string[][]> {
  const { weights, method } = matching
  const membersOf = (unit: string) => members.get(unit) ?? []
  const names = [...members.keys()].sort()
  const mayJoin = createJoinRule(matching, membersOf)
  if (method !== 'average_link') return joinByBestLink({ names }, links, weights.cut, mayJoin)
  const need = weights.cut - weights.floor
  return await joinByAverageLink(
    { names },
    links,
    (left, right) => scores.sumScores(left, membersOf(left), right, membersOf(right), pause),
    need,
    mayJoin,
    pause,
  )
}

/**
 * Creates the rule for joining clusters. One to one joins at most two records of one source, or one record of each of
 * several sources that contain each entity once. No method joins records that a decision keeps apart.
 */
function createJoinRule(matching: ArrivalMatching, membersOf: (unit: string) => readonly JoinableRecord[]): JoinRule {
  const { lens, method, isOneSource, isApart } = matching
  return (leftUnits, rightUnits) => {
    const [lefts, rights] = [leftUnits.flatMap(membersOf), rightUnits.flatMap(membersOf)]
    if (isApart && lefts.some((left) => rights.some((right) => isApart(left, right)))) return false
    if (method !== 'one_to_one') return true
    const records = [...lefts, ...rights]
    const nodes = new Set(records.map(({ ref }) => ref.node_id))
    return lens.clustering === 'one_to_one' || isOneSource ? records.length <= 2 : nodes.size === records.length
  }
}

/** Names a cluster after its first cluster of the run, or else after its first record. */
function nameCluster(
  units: readonly string[],
  members: ReadonlyMap<string, readonly JoinableRecord[]>,
): ArrivalClustering['clusters'][number] {
  const records = units.flatMap((unit) => members.get(unit) ?? []).sort(compareByUid)
  const runBases = records.flatMap(({ runBase }) => runBase ?? []).sort()
  return { base: runBases[0] ?? singletonClusterName(records[0]?.uid ?? ''), members: records }
}
