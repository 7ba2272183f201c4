// Documents that were read or written lately, parsed: a hot document is not parsed again for each change.
import { LRUCache } from 'lru-cache'
import type { Doc, StoredFields } from '../../../../daemon/kernel/store/store.ts'
import type { SqlCell } from './columns.ts'

/**
 * A stored document with its indexed cells and the length of its JSON. Its value is shared: nobody may change it.
 * `isSound`: it passed its schema in this process, and was not only read.
 */
export type CachedDocument = {
  readonly doc: Doc<StoredFields>
  readonly cells: readonly SqlCell[]
  readonly size: number
  readonly isSound: boolean
}

/** JSON characters kept in all; the parsed objects take two to four times that in bytes. */
const max_chars = 8_000_000

export class DocumentCache {
  readonly #entries = new LRUCache<string, CachedDocument>({ maxSize: max_chars, maxEntrySize: max_chars / 8 })

  get(table: string, id: string): CachedDocument | undefined {
    return this.#entries.get(cacheKey(table, id))
  }

  /** One that is larger than an eighth of the cache is not kept, and the one before it is dropped. */
  set(table: string, id: string, document: CachedDocument): void {
    this.#entries.set(cacheKey(table, id), document, { size: document.size })
  }

  remove(table: string, id: string): void {
    this.#entries.delete(cacheKey(table, id))
  }

  clear(): void {
    this.#entries.clear()
  }
}

function cacheKey(table: string, id: string): string {
  return `${table} ${id}`
}
