// Deletions of entities in progress, by documents without a label: a caller who may not see an entity may see its records.
import * as z from 'zod'
import type { Call } from '../../../kernel/operation/call.ts'
import { collection, type Doc } from '../../../kernel/store/store.ts'
import { entityClusters, type StoredCluster } from '../entity-cluster/model.ts'
import { entityRecords, isWithdrawn, type StoredRecord } from '../entity-record/model.ts'

/** Its id is that of the entity. It is never answered, and says nothing that the absence of the records does not. */
const entityRemoval = z.strictObject({ tenant_id: z.string() })

export const entityRemovals = collection({ name: 'entity_removal', schema: entityRemoval, indexes: [] })

/** Notes that the records of a deleted entity have not left it. May be repeated. */
export async function noteRemoval(call: Call, { id, value }: Doc<StoredCluster>): Promise<void> {
  if (value.removing) await call.store(entityRemovals).create(id, { tenant_id: value.tenant_id })
}

/** Call it once the records have left the entity. A note that a crash leaves hides nothing: no id is used again. */
export async function endRemovalNote(call: Call, entity: string): Promise<void> {
  if (await call.store(entityRemovals).find(entity)) await call.store(entityRemovals).remove(entity)
}

/** Whether an entity is deleted, which the caller need not be allowed to see. */
export async function isDeletedEntity(call: Call, id: string): Promise<boolean> {
  const entity = await call.store(entityClusters).find(id)
  if (entity) return entity.value.state === 'deleted'
  return (await call.store(entityRemovals).find(id)) !== undefined
}

/**
 * Finds a record that takes part in matching. From the deletion of its entity on it is not found, also before it has left
 * the entity.
 */
export async function findPresentRecord(call: Call, uid: string): Promise<Doc<StoredRecord> | undefined> {
  const doc = await call.store(entityRecords).find(uid)
  if (!doc || isWithdrawn(doc.value)) return undefined
  const { entity } = doc.value
  return entity !== undefined && (await isDeletedEntity(call, entity)) ? undefined : doc
}
