// Shows changes of entities to a caller: without the ids of entities and records that it may not see.
import type { Call } from '../../../kernel/operation/call.ts'
import { entityClusters } from '../entity-cluster/model.ts'
import { entityRecords, recordUid } from '../entity-record/model.ts'
import type { RecordRef } from '../fields.ts'
import type { EntityChange, StoredEntityChange } from './model.ts'

/** Entities and records that were deleted or forgotten keep their documents, and so their labels. */
export async function showChanges(call: Call, stored: readonly StoredEntityChange[]): Promise<EntityChange[]> {
  const named = new Set(stored.flatMap(({ change: { from = [], into = [] } }) => [...from, ...into]))
  const seen = await findVisible([...named], (id) => call.store(entityClusters).find(id))
  const uidOf = ({ tenant_id, lens }: StoredEntityChange, ref: RecordRef) => recordUid(tenant_id, lens, ref)
  // A record that joined is covered by the label of the change; one that left no longer is.
  const gone = stored.flatMap((change) => (change.change.left ?? []).map((ref) => uidOf(change, ref)))
  const seenRecords = await findVisible([...new Set(gone)], (id) => call.store(entityRecords).find(id))
  return stored.map((each) => {
    const { left, from, into, ...rest } = each.change
    return {
      ...rest,
      classification: each.label,
      ...listField(
        'left',
        left?.filter((ref) => seenRecords.has(uidOf(each, ref))),
      ),
      ...listField(
        'from',
        from?.filter((id) => seen.has(id)),
      ),
      ...listField(
        'into',
        into?.filter((id) => seen.has(id)),
      ),
    }
  })
}

function listField<Name extends string, T>(name: Name, list: T[] | undefined): Partial<Record<Name, T[]>> {
  return list && list.length > 0 ? ({ [name]: list } as Record<Name, T[]>) : {}
}

/** Requests at a time. */
const max_concurrent_reads = 64

async function findVisible(ids: readonly string[], find: (id: string) => Promise<unknown>): Promise<Set<string>> {
  const visible = new Set<string>()
  for (let at = 0; at < ids.length; at += max_concurrent_reads)
    await Promise.all(
      ids.slice(at, at + max_concurrent_reads).map(async (id) => {
        if (await find(id)) visible.add(id)
      }),
    )
  return visible
}
