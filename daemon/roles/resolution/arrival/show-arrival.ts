// Builds the view of an arrival, with the entities that the caller may see.
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { entityClusters } from '../entity-cluster/model.ts'
import { entityRecords, isWithdrawn, recordUid } from '../entity-record/model.ts'
import type { ArrivalView, ArrivedRecordOutcome, StoredArrival } from './model.ts'

type ArrivalItem = ArrivalView['items'][number]

/** Builds the view. Hides the outcome and the entity of a record above the caller's clearance. */
export async function showArrival(call: Call, { id, version, value }: Doc<StoredArrival>): Promise<ArrivalView> {
  const { label: classification, records, owes, failure, ...stored } = value
  const { request_digest: _digest, expires_ts: _until, principal: _principal, folder: _folder, ...dated } = stored
  const { emptied_at: _emptied, ...rest } = dated
  const state = failure ? 'failed' : owes === 1 ? 'waiting' : 'matched'
  const items: ArrivalItem[] = []
  for (const record of records) items.push(await showItem(call, value, record, state === 'matched'))
  return { uid: id, version, classification, ...rest, state, ...(failure ? { failure } : {}), items }
}

async function showItem(
  call: Call,
  { tenant_id, lens }: StoredArrival,
  { ref, outcome, merged_from = [] }: StoredArrival['records'][number],
  isMatched: boolean,
): Promise<ArrivalItem> {
  const { record_id } = ref
  const record = isMatched ? await call.store(entityRecords).find(recordUid(tenant_id, lens, ref)) : undefined
  if (!record) return { record_id }
  const id = isWithdrawn(record.value) ? undefined : record.value.entity
  const entity = id === undefined ? undefined : await call.store(entityClusters).find(id)
  const entityFields = entity && { entity: entity.id, classification: entity.value.label, size: entity.value.size }
  const merged = entity ? await Promise.all(merged_from.map((id) => call.store(entityClusters).find(id))) : []
  const seen = merged.flatMap((doc) => (doc ? [doc.id] : []))
  const shown = outcome && limitOutcome(outcome, entity !== undefined, seen.length > 0)
  const mergedField = seen.length > 0 ? { merged_from: seen } : {}
  return { record_id, ...(shown ? { outcome: shown } : {}), ...mergedField, ...entityFields }
}

/**
 * That a record joined or merged entities says that these exist. A caller who may not see them gets the word of a record
 * that met none, `new`, as it does while the record waits; another word, or none, would disclose them.
 */
function limitOutcome(outcome: ArrivedRecordOutcome, isEntitySeen: boolean, isMergedSeen: boolean) {
  if (outcome !== 'joined' && outcome !== 'merged') return outcome
  if (!isEntitySeen) return 'new'
  return isMergedSeen ? outcome : 'joined'
}
