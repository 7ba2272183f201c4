// Where records belong that came since the run: among what it put together, by its weights, whatever the order in which they came.
import { type Arriving, type Matching, type ScoredPair, Scores } from './scores.ts'
import { joinedByMean, joinedWhere, type MayJoin, type UnitLink } from './unit-links.ts'

/** How records of the registry are read. */
export type Registered = {
  byUid(uids: readonly string[]): Promise<readonly Arriving[]>
  /** All that are in one of these clusters. */
  byBase(bases: readonly string[]): Promise<readonly Arriving[]>
}

export type Joined = {
  /** Clusters under their names, those that stay as they are too; every record that was looked at is in one. */
  readonly clusters: readonly { readonly base: string; readonly members: readonly Arriving[] }[]
  /** Pairs of a record that came since which say something, or are in one cluster. */
  readonly pairs: readonly ScoredPair[]
}

/** Records around those that arrive; beyond, nothing more is asked which others they bring along. */
const most_around = 2_000

/**
 * A pure function of the clusters of the run and of all records that came since, as far as those hang together with `waiting`:
 * one at a time or all at once, in any order, they come to the same clusters.
 */
export async function arriving(of: Matching, registered: Registered, waiting: readonly Arriving[]): Promise<Joined> {
  const scores = new Scores(of)
  const around = await recordsAround(of, scores, registered, waiting)
  const members = new Map<string, Arriving[]>()
  for (const record of [...around.values()].sort(byUid)) {
    const unit = unitOf(record)
    members.set(unit, [...(members.get(unit) ?? []), record])
  }
  const free = [...around.values()].filter(isFree).sort(byUid)
  const links = free.flatMap((record) => linksOf(of, scores, around, record))
  const clusters = clustersBy(of, scores, members, links)
  const joined = clusters.map((units) => named(units, members))
  return { clusters: joined, pairs: scores.pairs(new Set(waiting.map(({ uid }) => uid)), joined, of.weights.floor) }
}

function isFree({ found }: Arriving): boolean {
  return found === undefined
}

function unitOf({ uid, found }: Arriving): string {
  return found ?? aloneIn(uid)
}

/** The name of the cluster of one record that came by itself: no run gives it. */
export function aloneIn(uid: string): string {
  return `${uid}_new`
}

function byUid(one: Arriving, other: Arriving): number {
  return one.uid < other.uid ? -1 : 1
}

/** Closed under two things: records of one cluster, and those that a record which came since is linked to. */
async function recordsAround(
  { weights }: Matching,
  scores: Scores,
  registered: Registered,
  waiting: readonly Arriving[],
): Promise<Map<string, Arriving>> {
  const around = new Map(waiting.map((record) => [record.uid, record]))
  const asked = new Set<string>()
  let queue: readonly Arriving[] = waiting
  while (queue.length > 0) {
    const near = queue.flatMap((record) => scores.near(record).filter(({ score }) => score > weights.floor))
    const wanted = [...new Set(near.map(({ uid }) => uid))].filter((uid) => !around.has(uid))
    const linked = await registered.byUid(wanted)
    const bases = new Set([...queue, ...linked].map(({ base }) => base))
    const members = await registered.byBase([...bases].filter((base) => !asked.has(base)))
    for (const base of bases) asked.add(base)
    const fresh = new Map([...linked, ...members].map((record) => [record.uid, record]))
    for (const uid of around.keys()) fresh.delete(uid)
    for (const [uid, record] of fresh) around.set(uid, record)
    queue = around.size > most_around ? [] : [...fresh.values()].filter(isFree)
  }
  return around
}

function linksOf(
  { weights }: Matching,
  scores: Scores,
  around: ReadonlyMap<string, Arriving>,
  record: Arriving,
): UnitLink[] {
  return scores.near(record).flatMap(({ uid, score: near }) => {
    const other = near > weights.floor ? around.get(uid) : undefined
    const score = other && scores.between(record, other)?.score
    if (!other || score === undefined || score <= weights.floor) return []
    return [{ one: unitOf(record), other: unitOf(other), score }]
  })
}

function clustersBy(
  matching: Matching,
  scores: Scores,
  members: ReadonlyMap<string, readonly Arriving[]>,
  links: readonly UnitLink[],
): string[][] {
  const { weights, method } = matching
  const of = (unit: string) => members.get(unit) ?? []
  const names = [...members.keys()].sort()
  const mayJoin = joiningBy(matching, of)
  if (method !== 'average_link') return joinedWhere({ names }, links, weights.cut, mayJoin)
  const need = weights.cut - weights.floor
  return joinedByMean({ names }, links, (one, other) => scores.sum(one, of(one), other, of(other)), need, mayJoin)
}

/**
 * One to one, two records of one source at most; of several sources that hold each thing once, one record of each. By no method
 * two that were decided to be apart.
 */
function joiningBy(matching: Matching, of: (unit: string) => readonly Arriving[]): MayJoin {
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
function named(
  units: readonly string[],
  members: ReadonlyMap<string, readonly Arriving[]>,
): Joined['clusters'][number] {
  const all = units.flatMap((unit) => members.get(unit) ?? []).sort(byUid)
  const runs = all.flatMap(({ found }) => found ?? []).sort()
  return { base: runs[0] ?? aloneIn(all[0]?.uid ?? ''), members: all }
}
