// The indexes that the matching thread holds for this service, least recently used first.
import type { Call } from '../../../kernel/operation/call.ts'
import type { Lens } from '../lens/model.ts'
import type { IndexedRecord, IndexId } from '../matching-thread/matching-jobs.ts'
import { matchingThreadPart, requestJob } from '../matching-thread/request-job.ts'

/** An index that the thread may still hold. One index may have several: each stands for one removal. */
type Eviction = { readonly id: IndexId }

/** An index in the thread. */
export class ThreadIndex {
  readonly id: IndexId
  readonly lens: Lens
  readonly #generation: number
  readonly #evictions: Set<Eviction>
  /** Records that it holds. */
  size = 0
  #isNew = true
  #isEvicted = false
  #updated: Promise<void> = Promise.resolve()

  constructor(id: IndexId, lens: Lens, generation: number, evictions: Set<Eviction>) {
    this.id = id
    this.lens = lens
    this.#generation = generation
    this.#evictions = evictions
  }

  /** Whether the thread that holds it has ended. */
  isLost(call: Call): boolean {
    return call.part(matchingThreadPart).generation !== this.#generation
  }

  /** Runs one update at a time. The failure of one, such as that its caller left, does not affect the next. */
  async update(run: () => Promise<void>): Promise<void> {
    this.#updated = this.#updated.catch(() => undefined).then(run)
    await this.#updated
  }

  /** Adds or replaces records. The thread first removes evicted indexes: it needs more memory here alone. */
  async put(call: Call, records: readonly IndexedRecord[]): Promise<void> {
    const evictions = [...this.#evictions]
    const evicted = evictions.map(({ id }) => id)
    const input = { index: this.id, lens: this.lens, records, isNew: this.#isNew, evicted }
    try {
      this.size = await requestJob(call, 'put_records', input)
      this.#isNew = false
      for (const eviction of evictions) this.#evictions.delete(eviction)
    } finally {
      // The job may have created the index again.
      if (this.#isEvicted) this.evict()
    }
  }

  /** Lets the thread remove it with the next records, whatever becomes of the caller. */
  evict(): void {
    this.#isEvicted = true
    this.#evictions.add({ id: this.id })
  }
}

/** Keeps indexes under keys, within a number of records. `V` is what else belongs to an index. */
export class ThreadIndexes<V extends { readonly index: ThreadIndex }> {
  readonly #kept = new Map<string, V>()
  readonly #evictions = new Set<Eviction>()
  #created = 0

  /** Returns what the key holds, as long as its thread runs. */
  find(call: Call, key: string): V | undefined {
    const kept = this.#kept.get(key)
    return kept?.index.isLost(call) ? undefined : kept
  }

  create(call: Call, lens: Lens): ThreadIndex {
    const { generation } = call.part(matchingThreadPart)
    return new ThreadIndex(String(++this.#created), lens, generation, this.#evictions)
  }

  /** Keeps the value as the most recently used, and evicts others until they have `room` records at most. */
  keep(key: string, value: V, room: number): void {
    const replaced = this.#kept.get(key)
    this.#kept.delete(key)
    if (replaced && replaced.index !== value.index) replaced.index.evict()
    let used = 0
    for (const { index } of this.#kept.values()) used += index.size
    for (const [other, { index }] of this.#kept) {
      if (used <= room) break
      this.#kept.delete(other)
      index.evict()
      used -= index.size
    }
    this.#kept.set(key, value)
  }
}
