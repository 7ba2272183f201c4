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
import { reclusterEntities } from './recluster-entities.ts'

/** Limit of records matched together. */
const max_batch_records = 100

type StoredJoinableRecord = JoinableRecord & { readonly doc: Doc<StoredRecord> }

/**
 * Matches all waiting records of the registry. May be repeated after a crash. Returns false while a run writes the
 * registry: they are matched when the run completes. Throws `Refusal('wrong_state')` without a completed run, and for a
 * registry above the lookup limit of this site.
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

/** Whether a run is writing clusters. Such a run applies all decisions, and requeues decisions made meanwhile. */
export async function isBeingWritten(call: Call, { tenant_id, lens }: RegistryKey): Promise<boolean> {
  const filter = { tenant_id, lens, state: 'resolving' }
  return (await call.store(fusionRuns).list({ filter, limit: 1, fresh: true })).docs.length > 0
}

async function matchBatch(call: Call, registry: RegistryKey, docs: readonly Doc<StoredRecord>[]): Promise<void> {
  const trained = await findLatestTrainedLens(call, registry)
  if (!trained) throw refuse('wrong_state', `no run of the lens ${registry.lens} has completed: start one first`)
  const matching = await buildArrivalMatching(call, trained)
  const registered = {
    byUid: async (uids: readonly string[]) => await loadRecords(call, registry, uids),
    byBase: async (bases: readonly string[]) =>
      (await listByValues(call, entityRecords, registry, 'base', bases)).map(toJoinableRecord),
  }
  const waiting = docs.map(toJoinableRecord)
  const joined = await joinArrivals(matching, registered, waiting)
  const rescored = await rescoreOldPairs(call, registry, matching, waiting, joined.pairs)
  await publishArrivalMatches(call, trained, joined, [...joined.pairs, ...rescored])
  const moved = await updateBases(call, joined)
  const { lens_id, lens_version, entity_type } = trained.run.value
  const origin = { lens: registry.lens, lens_id, lens_version, entity_type, run_id: trained.run.id }
  const seeds = new Set([...waiting.map(({ uid }) => uid), ...moved])
  for (const { members } of joined.clusters) {
    const clusterSeeds = members.filter(({ uid }) => seeds.has(uid)).map(({ uid }) => uid)
    if (clusterSeeds.length > 0) await reclusterEntities(call, registry, origin, clusterSeeds)
  }
  // A run that began to write meanwhile may not have read these records.
  if (await isBeingWritten(call, registry)) return
  for (const doc of docs) await markMatched(call, doc, trained.run.id)
}

async function buildArrivalMatching(call: Call, trained: TrainedLens): Promise<ArrivalMatching> {
  const index = await call.part(registryIndexCachePart).openIndex(call, trained)
  if (isRefusal(index)) throw index
  const { route, sources } = trained.run.value
  const lens = trained.lens.value.body
  const method = lens.clustering ?? (route === 'links' ? 'one_to_one' : 'average_link')
  return { lens, weights: trained.weights, method, isOneSource: sources.length === 1, index }
}

async function loadRecords(
  call: Call,
  { tenant_id }: RegistryKey,
  uids: readonly string[],
): Promise<StoredJoinableRecord[]> {
  const docs = await Promise.all(uids.map((uid) => call.store(entityRecords).find(uid)))
  return docs.flatMap((doc) => (doc?.value.tenant_id === tenant_id ? [toJoinableRecord(doc)] : []))
}

function toJoinableRecord(doc: Doc<StoredRecord>): StoredJoinableRecord {
  const { ref, values, base, found, arrived } = doc.value
  return { uid: doc.id, ref, values, base, runBase: arrived === undefined ? (found ?? base) : undefined, doc }
}

/** Rescores former pairs that no longer share keys. */
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
  const scored = new Set(pairs.map(({ left, right }) => pairKey(left.uid, right.uid)))
  const old = new Map([...lefts, ...rights].map(({ value }) => [pairKey(value.left_uid, value.right_uid), value]))
  const unscored = [...old].flatMap(([key, value]) =>
    scored.has(key) ? [] : [[value.left_uid, value.right_uid] as const],
  )
  const loaded = await loadRecords(call, registry, [...new Set(unscored.flat())])
  const records = new Map(loaded.map((record) => [record.uid, record]))
  return unscored.flatMap(([leftUid, rightUid]) => {
    const [left, right] = [records.get(leftUid), records.get(rightUid)]
    const [comparison] = left && right ? compareRecord(lens, weights, index, left.values, [right.values]) : []
    return left && right && comparison ? [{ left, right, comparison }] : []
  })
}

/** Writes each match under the joined label of its records. */
async function publishArrivalMatches(
  call: Call,
  trained: TrainedLens,
  { clusters }: ArrivalClustering,
  pairs: readonly ScoredRecordPair[],
): Promise<void> {
  const clusterOf = new Map(clusters.flatMap((cluster) => cluster.members.map(({ uid }) => [uid, cluster] as const)))
  const byLabel = new Map<string, { readonly label: Label; readonly matches: RunMatch[] }>()
  for (const pair of pairs) {
    const label = joinPairLabels(call, pair.left as StoredJoinableRecord, pair.right as StoredJoinableRecord)
    const [left, right] = orderRefs(pair.left.ref, pair.right.ref)
    const inOrder = left === pair.left.ref ? [pair.left, pair.right] : [pair.right, pair.left]
    const [leftCluster, rightCluster] = inOrder.map(({ uid }) => clusterOf.get(uid))
    const { score, parts } = pair.comparison
    const { prior, floor } = trained.weights
    const group = byLabel.get(canonicalJson(label)) ?? { label, matches: [] }
    byLabel.set(canonicalJson(label), group)
    group.matches.push({
      ...{ left, right, score, levels: [...parts], prior_bits: prior / Math.LN2, above: Math.max(0, score - floor) },
      ...{ linked: leftCluster !== undefined && leftCluster === rightCluster },
      ...{ left_size: leftCluster?.members.length ?? 1, right_size: rightCluster?.members.length ?? 1 },
    })
  }
  for (const { label, matches } of byLabel.values()) {
    await upsertMatches(call, buildMatchOrigin(trained, label), matches)
  }
  if (trained.run.value.consensus) call.wake('consult')
}

/** Builds the origin of matches. Scores of single records are log-odds on any scale of the run. */
function buildMatchOrigin({ run: { id, value } }: TrainedLens, label: Label): MatchOrigin {
  return { ...value, run_id: id, label, scale: 'log_odds' }
}

function joinPairLabels(call: Call, left: StoredJoinableRecord, right: StoredJoinableRecord): Label {
  const { label } = left.doc.value
  return joinLabels(label, right.doc.value.label, call.site.labels) ?? { ...label, releasable_to: [] }
}

/** Stores new clusters of records. Returns the uids of records that moved to another cluster. */
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
        const { runBase } = record
        const foundField = runBase === undefined || runBase === base ? {} : { found: runBase }
        return { next: { ...rest, ...foundField, base, updated_at: call.nowIso() }, answer: undefined }
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
