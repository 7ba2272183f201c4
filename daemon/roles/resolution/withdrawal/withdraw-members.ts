// Takes the records of deleted entities out of matching; forgets them where that was requested.
import { isRefusal } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { iterateDocuments } from '../../../kernel/store/iterate-documents.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { clusterTopic, entityClusters, type StoredCluster } from '../entity-cluster/model.ts'
import { entityRecords, isWithdrawn, recordUid, type StoredRecord, type Withdrawal } from '../entity-record/model.ts'
import { writeNumbered } from '../entity-record/write-numbered.ts'
import { listByValues } from '../registry/decision-reach.ts'
import { isBeingWritten } from '../registry/match-waiting-records.ts'
import { reclusterBatch } from '../registry/recluster-batch.ts'
import { reclusterEntities } from '../registry/recluster-entities.ts'
import { originOf } from '../registry/write-clusters.ts'
import { writeConcurrently } from '../upsert-documents.ts'
import { endRemovalNote, noteRemoval } from './entity-removal.ts'
import { withdrawRecord } from './withdraw-record.ts'

/** May be repeated after a crash. An entity whose registry a run is writing waits. */
export async function withdrawMembers(call: Call): Promise<void> {
  const pending = { filter: { removing: 1 }, fresh: true, page_size: 20 }
  for await (const doc of iterateDocuments(call.store(entityClusters), pending)) {
    if (call.signal.aborted) return
    await endRemoval(call, doc).catch((error: unknown) => {
      // One entity must delay neither others nor arrivals.
      const { trace_id } = call.trace
      const level = isRefusal(error) && error.row.retryable ? 'warn' : 'error'
      call.log[level]('resolution.entity-cluster.not_removed', { trace_id, entity: doc.id, error: String(error) })
    })
  }
}

async function endRemoval(call: Call, doc: Doc<StoredCluster>): Promise<void> {
  // A stop may have come between the deletion and its note.
  await noteRemoval(call, doc)
  if (await isBeingWritten(call, doc.value)) return
  await withdrawMembersOf(call, doc)
  const { doc: after } = await call.store(entityClusters).update(doc.id, ({ value: { removing, ...value } }) => ({
    // Meanwhile somebody may have requested to forget the records.
    ...(removing && value.forgotten?.at === doc.value.forgotten?.at ? { next: value } : {}),
    answer: undefined,
  }))
  if (!after.value.removing) await endRemovalNote(call, doc.id)
  call.announce(clusterTopic(doc.id))
}

async function withdrawMembersOf(call: Call, entity: Doc<StoredCluster>): Promise<void> {
  const { tenant_id, lens, former = [] } = entity.value
  const registry = { tenant_id, lens }
  const withdrawal = withdrawalOf(entity)
  await writeNumbered(call, registry, async (written) => {
    await writeConcurrently(former, (ref) =>
      changeRecord(call, recordUid(tenant_id, lens, ref), (record) =>
        isOfEntity(record, entity.id) ? withdrawRecord(record, withdrawal, written) : record,
      ),
    )
  })
  await releaseLateMembers(call, entity)
}

function withdrawalOf({ id, value: { deleted, forgotten } }: Doc<StoredCluster>): Withdrawal {
  if (forgotten) return { kind: 'forgotten', ...forgotten, entity: id }
  if (!deleted) throw new Error(`the entity ${id} is not deleted`)
  return { kind: 'deleted', ...deleted, entity: id }
}

/** A record that arrived again with other values is of another entity by now. */
function isOfEntity({ entity, withdrawn }: StoredRecord, id: string): boolean {
  return withdrawn ? withdrawn.entity === id : entity === id
}

/** Records that joined while the entity was deleted: nobody decided about them. */
async function releaseLateMembers(call: Call, { id, value }: Doc<StoredCluster>): Promise<void> {
  const { tenant_id, lens } = value
  const found = await listByValues(call, entityRecords, { tenant_id, lens }, 'entity', [id])
  const late = found.filter((doc) => !isWithdrawn(doc.value)).map((doc) => doc.id)
  if (late.length === 0) return
  await writeConcurrently(late, (uid) =>
    changeRecord(call, uid, (record) => {
      const { entity, ...rest } = record
      return entity === id && !isWithdrawn(record) ? rest : record
    }),
  )
  const origin = { ...originOf(value), cause: { kind: 'withdrawal' as const } }
  await reclusterBatch((seeds) => reclusterEntities(call, { tenant_id, lens }, origin, seeds), late)
}

/** Changes a record if there is one; a rule that returns the same value changes nothing. */
async function changeRecord(call: Call, uid: string, rule: (record: StoredRecord) => StoredRecord): Promise<void> {
  const change = ({ value }: Doc<StoredRecord>) => {
    const next = rule(value)
    return next === value ? { answer: undefined } : { next, answer: undefined }
  }
  await call
    .store(entityRecords)
    .update(uid, change)
    .catch((error: unknown) => {
      if (!isRefusal(error) || error.code !== 'not_found') throw error
    })
}
