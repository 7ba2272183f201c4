// The indexes that the matching thread holds for this service, least recently used first.
import type { Call } from '../../../kernel/operation/call.ts'
import type { Lens } from '../lens/model.ts'
import type { IndexedRecord, IndexId } from '../matching-thread/matching-jobs.ts'
import { matchingThreadPart, requestJob } from '../matching-thread/request-job.ts'

/** An index in the thread. */
export class ThreadIndex {
  readonly id: IndexId
  readonly lens: Lens
  readonly #generation: number
  /** Records that it holds. */
  size = 0
  #isNew = true

  constructor(id: IndexId, lens: Lens, generation: number) {
    this.id = id
    this.lens = lens
    this.#generation = generation
  }

  /** Whether the thread that holds it has ended. */
  isLost(call: Call): boolean {
    return call.part(matchingThreadPart).generation !== this.#generation
  }

  async put(call: Call, records: readonly IndexedRecord[]): Promise<void> {
    const input = { index: this.id, lens: this.lens, records, isNew: this.#isNew }
    this.size = await requestJob(call, 'put_records', input)
    this.#isNew = false
  }
}

/** Keeps indexes under keys, within a number of records. `V` is what else belongs to an index. */
export class ThreadIndexes<V extends { readonly index: ThreadIndex }> {
  readonly #kept = new Map<string, V>()
  #created = 0

  /** Returns what the key holds, as long as its thread runs. */
  find(call: Call, key: string): V | undefined {
    const kept = this.#kept.get(key)
    return kept?.index.isLost(call) ? undefined : kept
  }

  create(call: Call, lens: Lens): ThreadIndex {
    return new ThreadIndex(String(++this.#created), lens, call.part(matchingThreadPart).generation)
  }

  /** Keeps the value as the most recently used, and evicts others until all have `max_records` at most. */
  keep(call: Call, key: string, value: V, max_records: number): void {
    const replaced = this.#kept.get(key)
    this.#kept.delete(key)
    if (replaced && replaced.index !== value.index) dropIndex(call, replaced.index)
    let used = value.index.size
    for (const { index } of this.#kept.values()) used += index.size
    for (const [other, { index }] of this.#kept) {
      if (used <= max_records) break
      this.#kept.delete(other)
      dropIndex(call, index)
      used -= index.size
    }
    this.#kept.set(key, value)
  }

  forget(call: Call, key: string): void {
    const kept = this.#kept.get(key)
    this.#kept.delete(key)
    if (kept) dropIndex(call, kept.index)
  }
}

/** Nobody waits for it, and a thread that ended has dropped it already. */
function dropIndex(call: Call, index: ThreadIndex): void {
  if (index.isLost(call)) return
  requestJob(call, 'drop_index', { index: index.id }).catch((error: unknown) => {
    const { trace_id } = call.trace
    call.log.warn('resolution.index.not_dropped', { trace_id, index: index.id, error: String(error) })
  })
}
