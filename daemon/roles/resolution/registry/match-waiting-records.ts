// Matches arrived records with the registry, and updates entities.

import { canonicalJson } from '../../../kernel/encoding/canonical-json.ts'
import { isRefusal, refuse } from '../../../kernel/error/errors.ts'
import { joinLabels, type Label } from '../../../kernel/label/label.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import type { RunMatch } from '../engine/findings.ts'
import { compareRecord } from '../engine/lookup/compare.ts'
import { entityMatches } from '../entity-match/model.ts'
import { type MatchOrigin, upsertMatches } from '../entity-match/upsert-matches.ts'
import { entityRecords, type StoredRecord } from '../entity-record/model.ts'
import type { RegistryKey } from '../fields.ts'
import { fusionRuns } from '../fusion-run/model.ts'
import { findLatestTrainedLens, type TrainedLens } from '../lookup/trained-lens.ts'
import { orderRefs } from '../order-refs.ts'
import { registryIndexCachePart } from '../parts.ts'
import { type ArrivalMatching, type JoinableRecord, pairKey, type ScoredRecordPair } from './arrival-scores.ts'
import { listByValues } from './decision-reach.ts'
import { type ArrivalClustering, joinArrivals } from './join-arrivals.ts'
import { settleEntities } from './settle-entities.ts'

/** Records matched together. */
const max_batch_records = 100

type StoredJoinableRecord = JoinableRecord & { readonly doc: Doc<StoredRecord> }

/**
 * Matches all waiting records of the registry. May be repeated after a crash. Returns false while a run writes the
 * registry: the run has them matched when it completes. Throws `Refusal('wrong_state')` without a completed run, and
 * for a registry above the lookup limit of this site.
 */
export async function matchWaitingRecords(call: Call, registry: RegistryKey): Promise<boolean> {
  for (;;) {
    call.signal.throwIfAborted()
    const filter = { ...registry, arrived: 'waiting' }
    const { docs } = await call.store(entityRecords).list({ filter, limit: max_batch_records, fresh: true })
    if (docs.length === 0) return true
    if (await isBeingWritten(call, registry)) return false
    await matchBatch(call, registry, docs)
  }
}

/** A run that writes clusters applies all decisions, and requeues those made meanwhile. */
export async function isBeingWritten(call: Call, { tenant_id, lens }: RegistryKey): Promise<boolean> {
  const filter = { tenant_id, lens, state: 'resolving' }
  return (await call.store(fusionRuns).list({ filter, limit: 1, fresh: true })).docs.length > 0
}

async function matchBatch(call: Call, registry: RegistryKey, docs: readonly Doc<StoredRecord>[]): Promise<void> {
  const learnt = await findLatestTrainedLens(call, registry)
  if (!learnt) throw refuse('wrong_state', `no run of the lens ${registry.lens} has completed: start one first`)
  const of = await buildArrivalMatching(call, learnt)
  const registered = {
    byUid: async (uids: readonly string[]) => await loadRecords(call, registry, uids),
    byBase: async (bases: readonly string[]) =>
      (await listByValues(call, entityRecords, registry, 'base', bases)).map(toJoinableRecord),
  }
  const waiting = docs.map(toJoinableRecord)
  const joined = await joinArrivals(of, registered, waiting)
  const again = await rescoreOldPairs(call, registry, of, waiting, joined.pairs)
  await publishArrivalMatches(call, learnt, joined, [...joined.pairs, ...again])
  const moved = await updateBases(call, joined)
  const { lens_id, lens_version, entity_type } = learnt.run.value
  const origin = { lens: registry.lens, lens_id, lens_version, entity_type, run_id: learnt.run.id }
  const seeds = new Set([...waiting.map(({ uid }) => uid), ...moved])
  for (const { members } of joined.clusters) {
    const mine = members.filter(({ uid }) => seeds.has(uid)).map(({ uid }) => uid)
    if (mine.length > 0) await settleEntities(call, registry, origin, mine)
  }
  // A run that began to write meanwhile may not have read these records.
  if (await isBeingWritten(call, registry)) return
  for (const doc of docs) await markMatched(call, doc, learnt.run.id)
}

async function buildArrivalMatching(call: Call, learnt: TrainedLens): Promise<ArrivalMatching> {
  const index = await call.part(registryIndexCachePart).openIndex(call, learnt)
  if (isRefusal(index)) throw index
  const { route, sources } = learnt.run.value
  const lens = learnt.lens.value.body
  const method = lens.clustering ?? (route === 'links' ? 'one_to_one' : 'average_link')
  return { lens, weights: learnt.weights, method, isOneSource: sources.length === 1, index }
}

async function loadRecords(
  call: Call,
  { tenant_id }: RegistryKey,
  uids: readonly string[],
): Promise<StoredJoinableRecord[]> {
  const found = await Promise.all(uids.map((uid) => call.store(entityRecords).find(uid)))
  return found.flatMap((doc) => (doc?.value.tenant_id === tenant_id ? [toJoinableRecord(doc)] : []))
}

function toJoinableRecord(doc: Doc<StoredRecord>): StoredJoinableRecord {
  const { ref, values, base, found, arrived } = doc.value
  return { uid: doc.id, ref, values, base, found: arrived === undefined ? (found ?? base) : undefined, doc }
}

/** Rescores former pairs that share no keys any more. */
async function rescoreOldPairs(
  call: Call,
  registry: RegistryKey,
  { lens, weights, index }: ArrivalMatching,
  waiting: readonly JoinableRecord[],
  pairs: readonly ScoredRecordPair[],
): Promise<ScoredRecordPair[]> {
  const uids = waiting.map(({ uid }) => uid)
  const lefts = await listByValues(call, entityMatches, registry, 'left_uid', uids)
  const rights = await listByValues(call, entityMatches, registry, 'right_uid', uids)
  const scored = new Set(pairs.map(({ one, other }) => pairKey(one.uid, other.uid)))
  const old = new Map([...lefts, ...rights].map(({ value }) => [pairKey(value.left_uid, value.right_uid), value]))
  const left = [...old].flatMap(([key, value]) => (scored.has(key) ? [] : [[value.left_uid, value.right_uid] as const]))
  const known = new Map((await loadRecords(call, registry, [...new Set(left.flat())])).map((each) => [each.uid, each]))
  return left.flatMap(([a, b]) => {
    const [one, other] = [known.get(a), known.get(b)]
    const [compared] = one && other ? compareRecord(lens, weights, index, one.values, [other.values]) : []
    return one && other && compared ? [{ one, other, compared }] : []
  })
}

/** Writes each match under the joined label of its records. */
async function publishArrivalMatches(
  call: Call,
  learnt: TrainedLens,
  { clusters }: ArrivalClustering,
  pairs: readonly ScoredRecordPair[],
): Promise<void> {
  const clusterOf = new Map(clusters.flatMap((each) => each.members.map(({ uid }) => [uid, each] as const)))
  const byLabel = new Map<string, { readonly label: Label; readonly found: RunMatch[] }>()
  for (const { one, other, compared } of pairs) {
    const label = joinPairLabels(call, one as StoredJoinableRecord, other as StoredJoinableRecord)
    const [left, right] = orderRefs(one.ref, other.ref)
    const [mine, theirs] = (left === one.ref ? [one, other] : [other, one]).map(({ uid }) => clusterOf.get(uid))
    const { score, parts } = compared
    const { prior, floor } = learnt.weights
    const same = byLabel.get(canonicalJson(label)) ?? { label, found: [] }
    byLabel.set(canonicalJson(label), same)
    same.found.push({
      ...{ left, right, score, levels: [...parts], prior_bits: prior / Math.LN2, above: Math.max(0, score - floor) },
      ...{ linked: mine !== undefined && mine === theirs },
      ...{ left_size: mine?.members.length ?? 1, right_size: theirs?.members.length ?? 1 },
    })
  }
  for (const { label, found } of byLabel.values()) await upsertMatches(call, buildMatchOrigin(learnt, label), found)
  if (learnt.run.value.consensus) call.wake('consult')
}

/** Scores of single records are log-odds, whatever the scale of the run. */
function buildMatchOrigin({ run: { id, value } }: TrainedLens, label: Label): MatchOrigin {
  return { ...value, run_id: id, label, scale: 'log_odds' }
}

function joinPairLabels(call: Call, { doc: one }: StoredJoinableRecord, { doc: other }: StoredJoinableRecord): Label {
  const { label } = one.value
  return joinLabels(label, other.value.label, call.site.labels) ?? { ...label, releasable_to: [] }
}

/** Returns the uids of records that moved to another cluster. */
async function updateBases(call: Call, { clusters }: ArrivalClustering): Promise<string[]> {
  const moved: string[] = []
  for (const { base, members } of clusters) {
    for (const record of members) {
      if (record.base === base) continue
      const { doc } = record as StoredJoinableRecord
      await call.store(entityRecords).update(doc.id, ({ value }) => {
        // A newer write wins.
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
