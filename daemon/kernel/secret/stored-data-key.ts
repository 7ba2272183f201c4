// Wrapped data keys as a role stores them, beside the secrets that they encrypt.
import * as z from 'zod'
import { isRefusal } from '../error/errors.ts'
import { iterateDocuments } from '../store/iterate-documents.ts'
import { collection, type Doc, type Store } from '../store/store.ts'
import { type DataKeys, type OpenedDataKey, wrappedDataKey } from './data-key.ts'

const { id: _id, ...wrappedFields } = wrappedDataKey.shape

const storedDataKey = z.strictObject({
  tenant_id: z.string(),
  /** The collection whose secrets the key encrypts; an index. */
  collection: z.string(),
  /** Epoch milliseconds; an index. Of the keys of a collection the newest one encrypts. */
  created_ts: z.int(),
  ...wrappedFields,
})
export type StoredDataKey = z.infer<typeof storedDataKey>

/** Stored by each role with secret fields, so that a backup of the role holds the keys of the secrets in it. */
export const dataKeys = collection({
  name: 'data_key',
  schema: storedDataKey,
  indexes: ['collection', 'created_ts'],
})

/** The keys of a collection by age, then by id, so that every process finds the same newest key: the last. */
export async function listDataKeys(store: Store, name: string): Promise<readonly Doc<StoredDataKey>[]> {
  const from = { list: (query: Parameters<Store['list']>[1]) => store.list(dataKeys, query) }
  const keys: Doc<StoredDataKey>[] = []
  for await (const key of iterateDocuments(from, { filter: { collection: name }, fresh: true })) keys.push(key)
  return keys.sort((a, b) => a.value.created_ts - b.value.created_ts || (a.id < b.id ? -1 : 1))
}

export function openStoredKey(source: DataKeys, { id, value }: Doc<StoredDataKey>): Promise<OpenedDataKey> {
  const { collection: name, wrapping_key, wrapped } = value
  return source.open(name, { id, wrapping_key, wrapped })
}

/** Undefined where a retry would be refused as well: the key is lost. Throws while the keys cannot be read. */
export async function orLost<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer
  } catch (error) {
    if (isRefusal(error) && !error.row.retryable) return undefined
    throw error
  }
}
