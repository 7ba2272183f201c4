// Matches arrived records with the registry, and updates entities.

import { isRefusal, refuse } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { entityRecords, type StoredRecord } from '../entity-record/model.ts'
import type { RegistryKey } from '../fields.ts'
import { fusionRuns } from '../fusion-run/model.ts'
import { findLatestTrainedLens } from '../lookup/trained-lens.ts'
import { requestJob } from '../matching-thread/request-job.ts'
import { registryIndexCachePart } from '../parts.ts'
import { ArrivalBatch, toJoinableRecord, toJoinableRef } from './arrival-batch.ts'
import { reclusterEntities } from './recluster-entities.ts'

/** Limit of records matched together. */
const max_batch_records = 100

/**
 * Matches the next waiting records of the registry: a turn. May be repeated after a crash. While a run writes the registry
 * nothing is matched: the records are when the run completes. Throws `Refusal('wrong_state')` without a completed run, and for a
 * registry above the lookup limit of this site.
 */
export async function matchNextBatch(
  call: Call,
  registry: RegistryKey,
): Promise<'matched' | 'none_waits' | 'being_written'> {
  call.signal.throwIfAborted()
  const filter = { ...registry, arrived: 'waiting' }
  const order = { field: 'arrived', direction: 'asc' } as const
  const { docs } = await call.store(entityRecords).list({ filter, order, limit: max_batch_records, fresh: true })
  if (docs.length === 0) return 'none_waits'
  if (await isBeingWritten(call, registry)) return 'being_written'
  await matchBatch(call, registry, docs)
  return 'matched'
}

/** Whether a run is writing clusters. Such a run applies all decisions, and requeues decisions made meanwhile. */
export async function isBeingWritten(call: Call, { tenant_id, lens }: RegistryKey): Promise<boolean> {
  const filter = { tenant_id, lens, state: 'resolving' }
  return (await call.store(fusionRuns).list({ filter, limit: 1, fresh: true })).docs.length > 0
}

async function matchBatch(call: Call, registry: RegistryKey, docs: readonly Doc<StoredRecord>[]): Promise<void> {
  const trained = await findLatestTrainedLens(call, registry)
  if (!trained) throw refuse('wrong_state', `no run of the lens ${registry.lens} has completed: start one first`)
  const index = await call.part(registryIndexCachePart).openIndex(call, trained)
  if (isRefusal(index)) throw index
  const batch = new ArrivalBatch(call, registry, trained, docs.map(toJoinableRecord))
  const { route, sources } = trained.run.value
  const lens = trained.lens.value.body
  const method = lens.clustering ?? (route === 'links' ? 'one_to_one' : 'average_link')
  const matching = { lens, weights: trained.weights, method, isOneSource: sources.length === 1 }
  const waiting = batch.waiting.map(toJoinableRef)
  try {
    await requestJob(call, 'join_arrivals', { ...matching, index, waiting }, batch.answers)
  } catch (error) {
    if (!isRefusal(error) || error.code !== 'too_large' || call.signal.aborted) throw error
    if (docs.length > 1) return await matchOneByOne(call, registry, docs)
    batch.keepApart()
    const { trace_id } = call.trace
    call.log.warn('resolution.arrival.not_compared', { trace_id, record: docs[0]?.id, error: error.message })
  }
  const moved = await updateBases(call, batch.clusters)
  const { lens_id, lens_version, entity_type } = trained.run.value
  const cause = { kind: 'arrival' as const, run_id: trained.run.id }
  const origin = { lens: registry.lens, lens_id, lens_version, entity_type, run_id: trained.run.id, cause }
  const seeds = new Set([...waiting.map(({ uid }) => uid), ...moved])
  for (const { members } of batch.clusters) {
    const clusterSeeds = members.filter(({ uid }) => seeds.has(uid)).map(({ uid }) => uid)
    if (clusterSeeds.length > 0) await reclusterEntities(call, registry, origin, clusterSeeds)
  }
  // A run that began to write meanwhile may not have read these records.
  if (await isBeingWritten(call, registry)) return
  for (const doc of docs) await markMatched(call, doc, trained.run.id)
}

/** So that a record whose comparison takes too long delays no other. It stays alone until the next run. */
async function matchOneByOne(call: Call, registry: RegistryKey, docs: readonly Doc<StoredRecord>[]): Promise<void> {
  for (const doc of docs) {
    call.signal.throwIfAborted()
    await matchBatch(call, registry, [doc])
  }
}

/** Updates each record with its new cluster. Returns the uids of records that moved to another one. */
async function updateBases(call: Call, clusters: ArrivalBatch['clusters']): Promise<string[]> {
  const moved: string[] = []
  for (const { base, members } of clusters) {
    for (const { uid, base: before, runBase, doc } of members) {
      if (before === base) continue
      await call.store(entityRecords).update(uid, ({ value }) => {
        // A newer write wins.
        if (value.written !== doc.value.written || value.run_id !== doc.value.run_id) return { answer: undefined }
        const { found: _found, ...rest } = value
        const foundField = runBase === undefined || runBase === base ? {} : { found: runBase }
        return { next: { ...rest, ...foundField, base, updated_at: call.nowIso() }, answer: undefined }
      })
      moved.push(uid)
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
