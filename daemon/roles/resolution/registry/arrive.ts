// Matches records that came by themselves with what the registry holds, and has entities follow.
import type { Call } from '../../../kernel/call.ts'
import { canonical } from '../../../kernel/canonical.ts'
import { isRefused, refuse } from '../../../kernel/errors.ts'
import { join, type Label } from '../../../kernel/label.ts'
import type { Doc } from '../../../kernel/store.ts'
import { comparedWith } from '../engine/lookup/compare.ts'
import { entityMatches } from '../entity-match/model.ts'
import { inOrder } from '../entity-match/order.ts'
import { entityRecords, type StoredRecord } from '../entity-record/model.ts'
import { fusionRuns, type StoredRun } from '../fusion-run/model.ts'
import { putMatches } from '../fusion-run/publish.ts'
import { type Learnt, latestRun } from '../lookup/learnt.ts'
import { type FoundMatch, lookupsPart } from '../parts.ts'
import { arriving, type Joined } from './arriving.ts'
import { listed, type Whose } from './reach.ts'
import type { Arriving, Matching, ScoredPair } from './scores.ts'
import { settle } from './settle.ts'

/** Records that are matched together. */
const most_at_once = 100

type Known = Arriving & { readonly doc: Doc<StoredRecord> }

/**
 * Matches all records of the registry that wait for it. May be repeated after a crash. False where a run is writing the registry: it
 * has them matched when it is through. Throws `Refused`: wrong_state without a run that was completed, and for a registry that
 * is larger than this site looks up in.
 */
export async function matchWaiting(call: Call, whose: Whose): Promise<boolean> {
  for (;;) {
    call.signal.throwIfAborted()
    const filter = { ...whose, arrived: 'waiting' }
    const { docs } = await call.store(entityRecords).list({ filter, limit: most_at_once, fresh: true })
    if (docs.length === 0) return true
    if (await isBeingWritten(call, whose)) return false
    await matchThese(call, whose, docs)
  }
}

/** A run that writes clusters takes in all decisions itself, and has those settled again that came meanwhile. */
export async function isBeingWritten(call: Call, { tenant_id, lens }: Whose): Promise<boolean> {
  const filter = { tenant_id, lens, state: 'resolving' }
  return (await call.store(fusionRuns).list({ filter, limit: 1, fresh: true })).docs.length > 0
}

async function matchThese(call: Call, whose: Whose, docs: readonly Doc<StoredRecord>[]): Promise<void> {
  const learnt = await latestRun(call, whose)
  if (!learnt) throw refuse('wrong_state', `no run of the lens ${whose.lens} is completed`)
  const of = await matchingBy(call, learnt)
  const registered = {
    byUid: async (uids: readonly string[]) => await byUid(call, whose, uids),
    byBase: async (bases: readonly string[]) =>
      (await listed(call, entityRecords, whose, 'base', bases)).map(arrivingOf),
  }
  const waiting = docs.map(arrivingOf)
  const joined = await arriving(of, registered, waiting)
  const again = await pairsAgain(call, whose, of, waiting, joined.pairs)
  await publish(call, learnt, joined, [...joined.pairs, ...again])
  const moved = await rebase(call, joined)
  const { lens_id, lens_version, entity_type } = learnt.run.value
  const origin = { lens: whose.lens, lens_id, lens_version, entity_type, run_id: learnt.run.id }
  const seeds = new Set([...waiting.map(({ uid }) => uid), ...moved])
  for (const { members } of joined.clusters) {
    const mine = members.filter(({ uid }) => seeds.has(uid)).map(({ uid }) => uid)
    if (mine.length > 0) await settle(call, whose, origin, mine)
  }
  // A run that began to write meanwhile may not have seen them.
  if (await isBeingWritten(call, whose)) return
  for (const doc of docs) await markMatched(call, doc, learnt.run.id)
}

async function matchingBy(call: Call, learnt: Learnt): Promise<Matching> {
  const index = await call.part(lookupsPart).of(call, learnt)
  if (isRefused(index)) throw index
  const { route, sources } = learnt.run.value
  const lens = learnt.lens.value.body
  const method = lens.clustering ?? (route === 'links' ? 'one_to_one' : 'average_link')
  return { lens, weights: learnt.weights, method, isOneSource: sources.length === 1, index }
}

async function byUid(call: Call, { tenant_id }: Whose, uids: readonly string[]): Promise<Known[]> {
  const found = await Promise.all(uids.map((uid) => call.store(entityRecords).find(uid)))
  return found.flatMap((doc) => (doc?.value.tenant_id === tenant_id ? [arrivingOf(doc)] : []))
}

function arrivingOf(doc: Doc<StoredRecord>): Known {
  const { ref, values, base, found, arrived } = doc.value
  return { uid: doc.id, ref, values, base, found: arrived === undefined ? (found ?? base) : undefined, doc }
}

/** Matches of before that nothing brings together any more: what they say now is less. */
async function pairsAgain(
  call: Call,
  whose: Whose,
  { lens, weights, index }: Matching,
  waiting: readonly Arriving[],
  pairs: readonly ScoredPair[],
): Promise<ScoredPair[]> {
  const uids = waiting.map(({ uid }) => uid)
  const lefts = await listed(call, entityMatches, whose, 'left_uid', uids)
  const rights = await listed(call, entityMatches, whose, 'right_uid', uids)
  const scored = new Set(pairs.map(({ one, other }) => [one.uid, other.uid].sort().join(' ')))
  const old = new Map(
    [...lefts, ...rights].map(({ value }) => [[value.left_uid, value.right_uid].sort().join(' '), value]),
  )
  const left = [...old].flatMap(([key, value]) => (scored.has(key) ? [] : [[value.left_uid, value.right_uid] as const]))
  const known = new Map((await byUid(call, whose, [...new Set(left.flat())])).map((each) => [each.uid, each]))
  return left.flatMap(([a, b]) => {
    const [one, other] = [known.get(a), known.get(b)]
    const [compared] = one && other ? comparedWith(lens, weights, index, one.values, [other.values]) : []
    return one && other && compared ? [{ one, other, compared }] : []
  })
}

/** Under the label of both records. */
async function publish(call: Call, learnt: Learnt, { clusters }: Joined, pairs: readonly ScoredPair[]): Promise<void> {
  const clusterOf = new Map(clusters.flatMap((each) => each.members.map(({ uid }) => [uid, each] as const)))
  const byLabel = new Map<string, { readonly label: Label; readonly found: FoundMatch[] }>()
  for (const { one, other, compared } of pairs) {
    const label = labelOfBoth(call, one as Known, other as Known)
    const [left, right] = inOrder(one.ref, other.ref)
    const [mine, theirs] = (left === one.ref ? [one, other] : [other, one]).map(({ uid }) => clusterOf.get(uid))
    const { score, parts } = compared
    const { prior, floor } = learnt.weights
    const same = byLabel.get(canonical(label)) ?? { label, found: [] }
    byLabel.set(canonical(label), same)
    same.found.push({
      ...{ left, right, score, levels: [...parts], prior_bits: prior / Math.LN2, above: Math.max(0, score - floor) },
      ...{ linked: mine !== undefined && mine === theirs },
      ...{ left_size: mine?.members.length ?? 1, right_size: theirs?.members.length ?? 1 },
    })
  }
  for (const { label, found } of byLabel.values()) await putMatches(call, runAs(learnt.run, label), found)
  if (learnt.run.value.consensus) call.wake('consult')
}

/** Scores of single records are odds, however the run ranked its links. */
function runAs(run: Doc<StoredRun>, label: Label): Doc<StoredRun> {
  return { ...run, value: { ...run.value, label, scale: 'log_odds' } }
}

function labelOfBoth(call: Call, { doc: one }: Known, { doc: other }: Known): Label {
  const { label } = one.value
  return join(label, other.value.label, call.site.labels) ?? { ...label, releasable_to: [] }
}

/** The uids of records that are in another cluster now. */
async function rebase(call: Call, { clusters }: Joined): Promise<string[]> {
  const moved: string[] = []
  for (const { base, members } of clusters) {
    for (const record of members) {
      if (record.base === base) continue
      const { doc } = record as Known
      await call.store(entityRecords).update(doc.id, ({ value }) => {
        // Whoever wrote it meanwhile knows better.
        if (value.written !== doc.value.written || value.run_id !== doc.value.run_id) return { answer: undefined }
        const { found: _found, ...rest } = value
        const found = record.found === undefined || record.found === base ? {} : { found: record.found }
        return { next: { ...rest, ...found, base, updated_at: call.nowIso() }, answer: undefined }
      })
      moved.push(record.uid)
    }
  }
  return moved
}

async function markMatched(call: Call, doc: Doc<StoredRecord>, run_id: string): Promise<void> {
  await call
    .store(entityRecords)
    .update(doc.id, ({ value }) =>
      value.arrived === 'waiting' && value.written === doc.value.written
        ? { next: { ...value, arrived: 'matched', run_id, updated_at: call.nowIso() }, answer: undefined }
        : { answer: undefined },
    )
}
