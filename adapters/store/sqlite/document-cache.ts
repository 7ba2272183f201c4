// Documents that were read or written lately, parsed: a hot document is not parsed again for each change.
import type { Doc, StoredFields } from '../../../daemon/kernel/store/store.ts'
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
  readonly #entries = new Map<string, CachedDocument>()
  #chars = 0

  get(table: string, id: string): CachedDocument | undefined {
    const key = cacheKey(table, id)
    const held = this.#entries.get(key)
    if (!held) return undefined
    // A map keeps the order of insertion, so the first entry is always the one unused for longest.
    this.#entries.delete(key)
    this.#entries.set(key, held)
    return held
  }

  set(table: string, id: string, document: CachedDocument): void {
    this.remove(table, id)
    if (document.size > max_chars / 8) return
    this.#entries.set(cacheKey(table, id), document)
    this.#chars += document.size
    for (const oldest of this.#entries.keys()) {
      if (this.#chars <= max_chars) return
      this.#drop(oldest)
    }
  }

  remove(table: string, id: string): void {
    this.#drop(cacheKey(table, id))
  }

  clear(): void {
    this.#entries.clear()
    this.#chars = 0
  }

  #drop(key: string): void {
    this.#chars -= this.#entries.get(key)?.size ?? 0
    this.#entries.delete(key)
  }
}

function cacheKey(table: string, id: string): string {
  return `${table} ${id}`
}
