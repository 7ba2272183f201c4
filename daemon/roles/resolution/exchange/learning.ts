// Settles what a site has learnt: matches and clusters of a private run, or the peer's records for a run as any other.
import type { Call } from '../../../kernel/call.ts'
import { isRefused, type Refused, refuse } from '../../../kernel/errors.ts'
import type { Doc } from '../../../kernel/store.ts'
import { inOrder } from '../entity-match/order.ts'
import type { RecordRef } from '../fields.ts'
import { fusionRuns, type StoredRun } from '../fusion-run/model.ts'
import { publishMatches } from '../fusion-run/publish.ts'
import { type FoundMatch, runWork } from '../parts.ts'
import { recordKeys } from '../privacy/record-keys.ts'
import { publishRegistry } from '../registry/publish.ts'
import { settings } from '../settings.ts'
import { otherParty } from './agreement.ts'
import { runOf } from './model.ts'
import { bytesOf, pair_bytes, piecesOf, rowsIn } from './pieces.ts'
import { type Material, orderOf, ownRows, parametersOf, prepare } from './preparing.ts'
import { recordOf, seenRows } from './rows.ts'
import { moveRun } from './run-of-exchange.ts'

/** Of one entity: rows of this site, and what stands for the records of the other. */
type Shared = { readonly rows: readonly number[]; readonly theirs: number; readonly score: number }

/** May be done again: everything is written under ids that follow from what it is about. */
export async function settle(given: Material): Promise<Refused | undefined> {
  const { call, doc } = given
  const { agreement } = doc.value
  const isParty = agreement.parties.includes(call.site.name)
  if (isParty && (await call.store(fusionRuns).get(runOf(doc.id))).value.state === 'completed') return undefined
  if (!agreement.learns.includes(call.site.name)) return isParty ? await nothingLearnt(given) : undefined
  if (agreement.privacy === 'none') return await handOver(given)
  const shared = agreement.privacy === 'psi' ? await sharedKeys(given) : await alikeVectors(given)
  return isRefused(shared) ? shared : await write(given, shared)
}

async function nothingLearnt({ call, doc }: Material): Promise<Refused | undefined> {
  const at = call.nowIso()
  const counts = { records: doc.value.sizes[call.site.name] ?? 0 }
  const done = await moveRun(call, doc.id, (run) => ({
    ...run,
    state: 'completed',
    counts,
    updated_at: at,
    ended_at: at,
    files_until_ts: call.now(),
  }))
  return isRefused(done) ? done : undefined
}

/** Both sides' records as nodes of a run of this site, which is carried out as any other: by the same lens, to the same result. */
async function handOver({ call, doc, lens }: Material): Promise<Refused | undefined> {
  const { agreement } = doc.value
  const run = await call.store(fusionRuns).find(runOf(doc.id))
  if (run && (run.value.owes === 1 || run.value.attempts > 0)) return undefined
  const nodes = agreement.parties.toSorted()
  const records = await Promise.all(
    nodes.map(
      async (node) => await rowsIn(call, doc.id, node, node === call.site.name ? (doc.value.own ?? '') : 'records'),
    ),
  )
  const other = otherParty(agreement, call.site.name)
  const rows = records[nodes.indexOf(other)]
  if (!rows || rows.length !== doc.value.sizes[other]) return refuse('invalid', `${other} sent ${rows?.length} records`)
  if (new Set(rows.map(([id]) => id)).size < rows.length) return refuse('invalid', `${other} sent a record twice`)
  const work = call.part(runWork)
  await work.drop(runOf(doc.id))
  const asRecords = (of: (typeof records)[number] = []) => of.map((row) => recordOf(lens, agreement.fields, row))
  const kept = await work.keep(runOf(doc.id), new Map(records.map((of, place) => [place, asRecords(of)] as const)))
  try {
    const moved = await moveRun(call, doc.id, (now) => ({
      ...now,
      state: 'pending',
      owes: 1,
      updated_at: call.nowIso(),
    }))
    return isRefused(moved) ? moved : undefined
  } finally {
    kept.release()
  }
}

/** Keys that both have; what stands for the other's records is the key's place in the set of the one that was told last. */
async function sharedKeys(given: Material): Promise<readonly Shared[] | Refused> {
  const { call, doc, lens } = given
  const { fields, learns, parties } = doc.value.agreement
  const { rows } = recordKeys(seenRows(lens, fields, await ownRows(given)), fields)
  const order = await orderOf(given)
  const isFinder = call.site.name === (learns.includes(parties[0]) ? parties[0] : parties[1])
  const refused = isFinder ? await prepare(given, 'places') : undefined
  if (refused) return refused
  const other = otherParty(doc.value.agreement, call.site.name)
  const places = await numbers(call, doc.id, isFinder ? call.site.name : other, 'places')
  const ours = isFinder ? await numbers(call, doc.id, call.site.name, 'met') : places
  const isAscending = places.every((place, at) => at === 0 || place > (places[at - 1] ?? 0))
  if (!isAscending || ours.some((place) => place >= order.length))
    return refuse('invalid', `${other} told of keys that there are none of`)
  return Array.from(places, (theirs, at) => ({ rows: rows[order[ours[at] ?? 0] ?? 0] ?? [], theirs, score: 1 }))
}

async function alikeVectors(given: Material): Promise<readonly Shared[] | Refused> {
  const { call, doc } = given
  const { agreement, sizes } = doc.value
  const { parties, linker = '' } = agreement
  const [self, other] = [call.site.name, otherParty(agreement, call.site.name)]
  const refused = self === linker ? await prepare(given, 'pairs') : undefined
  if (refused) return refused
  const order = await orderOf(given)
  const found = await bytesOf(call, doc.id, linker, 'pairs')
  if (!found) throw new Error(`the pairs of ${doc.id} are not here`)
  const bytes = Buffer.from(found)
  const pairs: Shared[] = []
  const { threshold, one_to_one } = parametersOf(given)
  const seen = { ours: new Set<number>(), theirs: new Set<number>() }
  let last = -1
  for (let at = 0; at < bytes.length; at += pair_bytes) {
    const both = [bytes.readUInt32LE(at), bytes.readUInt32LE(at + 4)]
    const [ours = 0, theirs = 0] = self === parties[0] ? both : both.toReversed()
    const score = bytes.readDoubleLE(at + 8)
    // As a linker writes them: ascending, so that none is there twice.
    const place = (both[0] ?? 0) * 2 ** 21 + (both[1] ?? 0)
    const isSound =
      ours < order.length && theirs < (sizes[other] ?? 0) && score >= threshold && score <= 1 && place > last
    const isTaken = one_to_one && (seen.ours.has(ours) || seen.theirs.has(theirs))
    if (!isSound || isTaken) return refuse('invalid', `${linker} told of a pair that cannot be`)
    last = place
    seen.ours.add(ours)
    seen.theirs.add(theirs)
    pairs.push({ rows: [order[ours] ?? 0], theirs, score })
  }
  return pairs
}

async function numbers(call: Call, id: string, from: string, what: string): Promise<Uint32Array> {
  const bytes = await bytesOf(call, id, from, what)
  if (!bytes || !(await piecesOf(call, id, from, what))) throw new Error(`the ${what} of ${id} are not here`)
  return new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4)
}

const batch = 500

async function write(given: Material, shared: readonly Shared[]): Promise<Refused | undefined> {
  const { call, doc } = given
  const most = call.settings(settings).max_matches
  const rows = await ownRows(given)
  const run = await moveRun(call, doc.id, (now) => ({
    ...now,
    state: 'resolving',
    route: 'links',
    updated_at: call.nowIso(),
  }))
  if (isRefused(run)) return run
  const other = otherParty(doc.value.agreement, call.site.name)
  const ourRef = (row: number): RecordRef => ({ node_id: call.site.name, record_id: rows[row]?.[0] ?? '' })
  const theirRef = (place: number): RecordRef => ({ node_id: other, record_id: `${doc.id}#${place}` })
  const matches = shared.flatMap((each) =>
    each.rows.map((row) => matchOf(ourRef(row), theirRef(each.theirs), each.score)),
  )
  if (matches.length > most)
    return refuse('too_large', `there are ${matches.length} matches, and a run may write ${most}`)
  const clusters = clustersOf(shared).map(({ ours, theirs }) =>
    [...ours.map(ourRef), ...theirs.map(theirRef)].sort((a, b) => (inOrder(a, b)[0] === a ? -1 : 1)),
  )
  await publishMatches(call, run, matches.length, call.signal, batches(matches))
  // What their records say is not known here; the registry has them by name alone.
  const named = clusters.map((members) => members.map((ref) => ({ ref, values: {} })))
  await publishRegistry(call, run, named.length, call.signal, batches(named))
  const done = await completedRun(given, run, { matches: matches.length, clusters })
  call.wake('settle')
  await call.part(runWork).drop(run.id)
  return isRefused(done) ? done : undefined
}

async function completedRun(
  { call, doc }: Material,
  run: Doc<StoredRun>,
  found: { matches: number; clusters: readonly (readonly RecordRef[])[] },
) {
  const at = call.nowIso()
  const clustered = found.clusters.reduce((sum, members) => sum + members.length, 0)
  const records = run.value.sources.reduce((sum, source) => sum + (source.records ?? 0), 0)
  const counts = { records, matches: found.matches, clusters: found.clusters.length, clustered }
  return await moveRun(call, doc.id, (now) => ({
    ...now,
    state: 'completed',
    counts,
    updated_at: at,
    ended_at: at,
    files_until_ts: call.now(),
  }))
}

function matchOf(one: RecordRef, other: RecordRef, score: number): FoundMatch {
  const [left, right] = inOrder(one, other)
  return { left, right, score, levels: [], linked: true, above: 1, left_size: 1, right_size: 1 }
}

/** Connected: with one-to-one, and with keys, every pair is a cluster of its own. */
function clustersOf(shared: readonly Shared[]): readonly { readonly ours: number[]; readonly theirs: number[] }[] {
  const ofRow = new Map<number, { ours: number[]; theirs: number[] }>()
  const ofTheirs = new Map<number, { ours: number[]; theirs: number[] }>()
  const into = (target: { ours: number[]; theirs: number[] }, from: { ours: number[]; theirs: number[] }) => {
    if (target === from) return
    for (const row of from.ours) ofRow.set(row, target)
    for (const place of from.theirs) ofTheirs.set(place, target)
    target.ours.push(...from.ours.splice(0))
    target.theirs.push(...from.theirs.splice(0))
  }
  const all = new Set<{ ours: number[]; theirs: number[] }>()
  for (const { rows, theirs } of shared) {
    const cluster = ofTheirs.get(theirs) ?? { ours: [], theirs: [theirs] }
    ofTheirs.set(theirs, cluster)
    all.add(cluster)
    for (const row of rows) {
      const before = ofRow.get(row)
      if (before) into(cluster, before)
      else cluster.ours.push(row)
      ofRow.set(row, cluster)
    }
  }
  return [...all].filter(({ ours, theirs }) => ours.length + theirs.length > 1)
}

function* batches<T>(all: readonly T[]): Generator<readonly T[]> {
  for (let at = 0; at < all.length; at += batch) yield all.slice(at, at + batch)
}
