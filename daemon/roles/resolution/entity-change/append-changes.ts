// Moves changes from entities to the log of their tenant: numbers a batch in one write, copies it, then marks it settled.
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { entityClusters, type StoredCluster } from '../entity-cluster/model.ts'
import { settings } from '../settings.ts'
import { putDocuments, writeConcurrently } from '../upsert-documents.ts'
import { type EntityChangeLog, entityChangeLogs, entityChanges, type StoredEntityChange } from './model.ts'
import { assignPlaces, batchStart, entityChangeId, nextRetention, removeLoggedChanges } from './recorded-changes.ts'

/** The head of the log holds a batch while it is copied. */
const max_batch_changes = 500
const day_ms = 86_400_000

/**
 * Appends all changes of these entities of one tenant. Safe for concurrent callers: a batch is numbered only once the
 * previous one is copied, by any of them, and a change of the log is never copied again.
 */
export async function appendChanges(call: Call, tenant_id: string, docs: readonly Doc<StoredCluster>[]): Promise<void> {
  let remaining = docs.flatMap(({ id, value: { unlogged_changes = [] } }) =>
    unlogged_changes.map(({ at, revision }) => ({ entity: id, at, revision })),
  )
  while (remaining.length > 0 && !call.signal.aborted) {
    const head = await loadHead(call, tenant_id)
    if (head.pending.length > 0) await copyBatch(call, head)
    const numbered = await numberBatch(call, tenant_id, remaining.slice(0, max_batch_changes))
    if (!numbered) continue
    remaining = remaining.slice(max_batch_changes)
    await copyBatch(call, numbered)
  }
}

/** Copies batches that a stop interrupted. */
export async function finishBatches(call: Call): Promise<void> {
  const { docs } = await call.store(entityChangeLogs).list({ filter: { has_pending: 1 }, limit: 500, fresh: true })
  for (const { value } of docs) await copyBatch(call, value)
}

async function loadHead(call: Call, tenant_id: string): Promise<EntityChangeLog> {
  const existing = await call.store(entityChangeLogs).find(tenant_id)
  if (existing) return existing.value
  await call.store(entityChangeLogs).create(tenant_id, { tenant_id, batch: 0, settled: 0, pending: [], has_pending: 0 })
  return (await call.store(entityChangeLogs).get(tenant_id)).value
}

/** Undefined while another batch is being copied. */
async function numberBatch(
  call: Call,
  tenant_id: string,
  changes: Parameters<typeof assignPlaces>[1],
): Promise<EntityChangeLog | undefined> {
  const { doc, answer } = await call.store(entityChangeLogs).update(tenant_id, ({ value }) => {
    if (value.pending.length > 0) return { answer: false }
    const batch = Math.max(call.now(), value.batch + 1)
    const retention = nextRetention(value, call.settings(settings).change_days)
    return {
      next: { ...value, ...retention, batch, pending: assignPlaces(batch, changes), has_pending: 1 as const },
      answer: true,
    }
  })
  return answer ? doc.value : undefined
}

/** A change leaves its entity only once it is in the log, so a change that its entity lacks is in the log. */
async function copyBatch(call: Call, { tenant_id, batch, days, pending }: EntityChangeLog): Promise<void> {
  const places = new Map(pending.map(({ entity, revision, place }) => [entityChangeId(entity, revision), place]))
  const found = await Promise.all(
    [...new Set(pending.map(({ entity }) => entity))].map((id) => call.store(entityClusters).find(id)),
  )
  const docs = found.flatMap((doc) => doc ?? [])
  const expires_ts = batch + ((days ?? call.settings(settings).change_days) + 1) * day_ms
  const writes = docs.flatMap((doc) => listWrites(doc, places, expires_ts))
  const outcomes = writes.length > 0 ? await call.store(entityChanges).bulk(writes) : []
  if (outcomes.some((outcome) => outcome !== 'done' && outcome !== 'exists'))
    throw new Error(`changes of entities of ${tenant_id} could not be copied`)
  await clearCopied(
    call,
    docs,
    Map.groupBy(pending, ({ entity }) => entity),
  )
  await call.store(entityChangeLogs).update(tenant_id, ({ value }) => {
    if (value.batch !== batch || value.pending.length === 0) return { answer: undefined }
    return { next: { ...value, settled: batch, pending: [], has_pending: 0 as const }, answer: undefined }
  })
}

function listWrites({ id, value }: Doc<StoredCluster>, places: ReadonlyMap<string, string>, expires_ts: number) {
  const { tenant_id, lens, unlogged_changes = [] } = value
  return unlogged_changes.flatMap(({ label, ...change }) => {
    const changeId = entityChangeId(id, change.revision)
    const place = places.get(changeId)
    if (place === undefined) return []
    const stored: StoredEntityChange = {
      ...{ tenant_id, label, lens, entity: id, place },
      ...{ change: { id: changeId, entity: id, lens, ...change }, expires_ts },
    }
    return [{ do: 'create' as const, id: changeId, value: stored }]
  })
}

async function clearCopied(
  call: Call,
  docs: readonly Doc<StoredCluster>[],
  copied: ReadonlyMap<string, readonly { readonly revision: number }[]>,
): Promise<void> {
  const clear = ({ id, value }: Doc<StoredCluster>) =>
    removeLoggedChanges(value, new Set(copied.get(id)?.map(({ revision }) => revision)))
  const cleared = docs.flatMap((doc) => {
    const value = clear(doc)
    return value === doc.value ? [] : [{ ...doc, value }]
  })
  const changed = await putDocuments(call.store(entityClusters), cleared)
  await writeConcurrently(changed, (id) =>
    call.store(entityClusters).update(id, (doc) => {
      const next = clear(doc)
      return next === doc.value ? { answer: undefined } : { next, answer: undefined }
    }),
  )
}

/** End of the positions whose changes are all in the log. */
export function copiedEnd({ settled }: EntityChangeLog): string {
  return batchStart(settled + 1)
}
