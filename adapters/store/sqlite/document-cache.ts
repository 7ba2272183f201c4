// Documents that were read or written lately, parsed: a hot document is not parsed again for each change.
import type { Doc, StoredFields } from '../../../daemon/kernel/store/store.ts'
import type { Cell } from './columns.ts'

/**
 * A stored document with its indexed cells and the length of its JSON. Its value is shared: nobody may change it.
 * `isSound`: it passed its schema in this process, and was not only read.
 */
export type Held = {
  readonly doc: Doc<StoredFields>
  readonly cells: readonly Cell[]
  readonly size: number
  readonly isSound: boolean
}

/** JSON characters kept in all; the parsed objects take two to four times that in bytes. */
const max_chars = 8_000_000

export class DocumentCache {
  readonly #held = new Map<string, Held>()
  #chars = 0

  get(table: string, id: string): Held | undefined {
    const key = keyOf(table, id)
    const held = this.#held.get(key)
    if (!held) return undefined
    // A map keeps the order of insertion, so the first entry is always the one unused for longest.
    this.#held.delete(key)
    this.#held.set(key, held)
    return held
  }

  set(table: string, id: string, held: Held): void {
    this.remove(table, id)
    if (held.size > max_chars / 8) return
    this.#held.set(keyOf(table, id), held)
    this.#chars += held.size
    for (const oldest of this.#held.keys()) {
      if (this.#chars <= max_chars) return
      this.#drop(oldest)
    }
  }

  remove(table: string, id: string): void {
    this.#drop(keyOf(table, id))
  }

  clear(): void {
    this.#held.clear()
    this.#chars = 0
  }

  #drop(key: string): void {
    this.#chars -= this.#held.get(key)?.size ?? 0
    this.#held.delete(key)
  }
}

function keyOf(table: string, id: string): string {
  return `${table} ${id}`
}
