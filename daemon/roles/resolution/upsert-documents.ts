// Writes many documents whose ids derive from their content; repeating a write changes nothing.
import { canonicalJson } from '../../kernel/encoding/canonical-json.ts'
import type { ScopedBulkWrite, ScopedStore } from '../../kernel/store/scoped-store.ts'
import type { Doc, StoredFields } from '../../kernel/store/store.ts'

export type DocumentUpsert<T> = { readonly id: string; readonly value: T }

/** Creates documents that do not exist and merges into existing ones; a merge without effect is not written. */
export async function upsertDocuments<T extends StoredFields & { updated_at: string }>(
  store: ScopedStore<T>,
  upserts: readonly DocumentUpsert<T>[],
  merge: (before: T, now: T) => T,
): Promise<void> {
  for (let at = 0; at < upserts.length; at += max_bulk_documents)
    await upsertBatch(store, upserts.slice(at, at + max_bulk_documents), merge)
}

async function upsertBatch<T extends StoredFields & { updated_at: string }>(
  store: ScopedStore<T>,
  upserts: readonly DocumentUpsert<T>[],
  merge: (before: T, now: T) => T,
): Promise<void> {
  let remaining = upserts
  let writes: ScopedBulkWrite<T>[] = upserts.map(({ id, value }) => ({ do: 'create', id, value }))
  while (writes.length > 0) {
    const outcomes = await store.bulk(writes)
    const conflicting = new Set(writes.flatMap(({ id }, at) => (outcomes[at] === 'done' ? [] : [id])))
    remaining = remaining.filter(({ id }) => conflicting.has(id))
    writes = (await Promise.all(remaining.map((upsert) => buildMergeWrite(store, upsert, merge)))).filter(
      (write) => write !== undefined,
    )
  }
}

/** A bulk write is one step of the event loop. */
const max_bulk_documents = 100
const max_concurrent_writes = 64

/** Writes documents under the versions at which they were read. Returns the ids of documents that changed meanwhile. */
export async function putDocuments<T extends StoredFields>(
  store: ScopedStore<T>,
  docs: readonly Doc<T>[],
): Promise<string[]> {
  const changed: string[] = []
  for (let at = 0; at < docs.length; at += max_bulk_documents) {
    const writes = docs.slice(at, at + max_bulk_documents).map((doc) => ({ do: 'put' as const, ...doc }))
    const outcomes = await store.bulk(writes)
    changed.push(...writes.flatMap(({ id }, index) => (outcomes[index] === 'done' ? [] : [id])))
  }
  return changed
}

/** Runs separate writes concurrently, a limited number at a time, so that the store may batch them. */
export async function writeConcurrently<T>(items: readonly T[], write: (item: T) => Promise<unknown>): Promise<void> {
  for (let at = 0; at < items.length; at += max_concurrent_writes)
    await Promise.all(items.slice(at, at + max_concurrent_writes).map(write))
}

async function buildMergeWrite<T extends StoredFields & { updated_at: string }>(
  store: ScopedStore<T>,
  { id, value }: DocumentUpsert<T>,
  merge: (before: T, now: T) => T,
): Promise<ScopedBulkWrite<T> | undefined> {
  const before = await store.find(id)
  if (!before) return { do: 'create', id, value }
  const next = merge(before.value, value)
  const isSame = serializeContent(next) === serializeContent(before.value)
  return isSame ? undefined : { do: 'put', id, value: next, version: before.version }
}

/** Canonical form without the fields that describe only the write itself. */
function serializeContent(value: StoredFields & { updated_at: string }): string {
  return canonicalJson({ ...value, updated_at: '', written: 0 })
}
