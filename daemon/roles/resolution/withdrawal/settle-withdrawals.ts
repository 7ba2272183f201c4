// Completes withdrawals in the registry: entities and matches without the records, and no value of a forgotten one in an arrival.
import { isRefusal } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { iterateDocuments } from '../../../kernel/store/iterate-documents.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { recordEntityChange } from '../entity-change/recorded-changes.ts'
import { entityClusters, type StoredCluster } from '../entity-cluster/model.ts'
import { entityRecords, isWithdrawn, recordTopic, type StoredRecord } from '../entity-record/model.ts'
import type { RegistryKey } from '../fields.ts'
import { isBeingWritten } from '../registry/match-waiting-records.ts'
import { reclusterBatch } from '../registry/recluster-batch.ts'
import { reclusterEntities } from '../registry/recluster-entities.ts'
import { recordKey, singletonClusterName } from '../registry/record-key.ts'
import { originOf } from '../registry/write-clusters.ts'
import { writeConcurrently } from '../upsert-documents.ts'
import { eraseArrivedValues } from './erase-arrived-values.ts'
import { withdrawMatches } from './withdraw-matches.ts'

/** Records that are settled together: those of the largest entity that can be deleted. */
const max_batch_records = 1_000

/** May be repeated after a crash. Records whose registry a run is writing wait. */
export async function settleWithdrawals(call: Call): Promise<void> {
  const pending = { filter: { erasing: 'registry' }, fresh: true, page_size: 500 }
  let batch: Doc<StoredRecord>[] = []
  for await (const doc of iterateDocuments(call.store(entityRecords), pending)) {
    batch.push(doc)
    if (batch.length < max_batch_records) continue
    await settleBatch(call, batch)
    batch = []
  }
  await settleBatch(call, batch)
}

async function settleBatch(call: Call, batch: readonly Doc<StoredRecord>[]): Promise<void> {
  const registries = Map.groupBy(batch, ({ value: { tenant_id, lens } }) => JSON.stringify([tenant_id, lens]))
  for (const docs of registries.values()) {
    if (call.signal.aborted) return
    await settleRecords(call, docs).catch((error: unknown) => {
      if (call.signal.aborted) return
      // Records of one registry must not delay those of another.
      const { trace_id } = call.trace
      const level = isRefusal(error) && error.row.retryable ? 'warn' : 'error'
      call.log[level]('resolution.entity-record.not_settled', { trace_id, record: docs[0]?.id, error: String(error) })
    })
  }
}

async function settleRecords(call: Call, docs: readonly Doc<StoredRecord>[]): Promise<void> {
  const [first] = docs
  if (!first) return
  const { tenant_id, lens } = first.value
  const registry = { tenant_id, lens }
  if (await isBeingWritten(call, registry)) return
  await eraseArrivedValues(call, registry, docs)
  await withdrawMatches(call, registry, docs)
  for (const [entity, members] of Map.groupBy(docs, ({ value }) => value.entity))
    if (entity !== undefined) await leaveEntity(call, registry, entity, members)
  call.wake('entity-changes')
  // A run that began to write meanwhile may not have read these withdrawals.
  if (await isBeingWritten(call, registry)) return
  await writeConcurrently(docs, (doc) => markSettled(call, doc))
}

/** Reclusters the other records of the entity and of the engine's clusters; an entity without another record is deleted. */
async function leaveEntity(
  call: Call,
  registry: RegistryKey,
  id: string,
  docs: readonly Doc<StoredRecord>[],
): Promise<void> {
  const entity = await call.store(entityClusters).find(id)
  if (!entity) return
  const bases = [...new Set(docs.map(({ value }) => value.base))]
  // A record reaches all others of its entity and of its cluster.
  const seeds = [
    await findRecordOf(call, registry, 'entity', id),
    ...(await Promise.all(bases.map((base) => findRecordOf(call, registry, 'base', base)))),
  ].flatMap((uid) => uid ?? [])
  const cause = { kind: 'withdrawal' as const }
  const origin = { ...originOf(entity.value), cause }
  const recluster = (batch: readonly string[]) => reclusterEntities(call, registry, origin, batch)
  // Records that are too many to be reclustered stay together.
  if (seeds.length > 0) await reclusterBatch(recluster, [...new Set(seeds)]).catch(ignoreTooLarge)
  await call.store(entityClusters).update(id, ({ value }) => {
    const next = withoutMembers(value, docs)
    if (next === value) return { answer: undefined }
    const audit = [call.audited('resolution.entity-cluster.leave', id, { size: next.size }, value.label)]
    const at = call.nowIso()
    const changed = recordEntityChange(value, { ...next, updated_at: at }, { at, cause })
    return { next: changed, answer: undefined, audit }
  })
}

/** Finds a record of an entity or a cluster that is not withdrawn, however many it has. */
async function findRecordOf(
  call: Call,
  { tenant_id, lens }: RegistryKey,
  field: 'entity' | 'base',
  name: string,
): Promise<string | undefined> {
  const order = { field, direction: 'asc' } as const
  const query = { filter: { tenant_id, [field]: name }, order, fresh: true, page_size: 100 }
  for await (const { id, value } of iterateDocuments(call.store(entityRecords), query))
    if (value.lens === lens && !isWithdrawn(value)) return id
  return undefined
}

function ignoreTooLarge(error: unknown): void {
  if (!isRefusal(error) || error.code !== 'too_large') throw error
}

/** Returns the same value for an entity that has none of the records. */
function withoutMembers(entity: StoredCluster, docs: readonly Doc<StoredRecord>[]): StoredCluster {
  const left = new Set(docs.map(({ value }) => recordKey(value.ref)))
  const members = entity.members.filter((ref) => !left.has(recordKey(ref)))
  const [last] = docs.flatMap(({ value }) => value.withdrawn ?? [])
  if (members.length === entity.members.length || !last) return entity
  if (members.length > 0) return { ...entity, members, size: members.length }
  const { at, by, reason } = last
  const forgotten = last.kind === 'forgotten' ? { forgotten: { at, by, reason } } : {}
  const end = { state: 'deleted' as const, members, size: 0, former: entity.members }
  return { ...entity, ...end, deleted: { at, by, reason }, ...forgotten }
}

async function markSettled(call: Call, { id, version }: Doc<StoredRecord>): Promise<void> {
  await call.store(entityRecords).update(id, (now) => {
    // Another entity may have taken it over meanwhile, and it may be forgotten by now.
    if (now.version !== version || now.value.erasing !== 'registry') return { answer: undefined }
    const { entity: _left, erasing: _done, ...value } = now.value
    const filesField = value.withdrawn?.kind === 'forgotten' ? { erasing: 'files' as const } : {}
    return { next: { ...value, base: singletonClusterName(id), ...filesField }, answer: undefined }
  })
  call.announce(recordTopic(id))
}
