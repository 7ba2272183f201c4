// The indexes that the matching thread holds for this service: loaded in pieces, within a memory limit, without thrash.

import { isRefusal, Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Lens } from '../lens/model.ts'
import type { IndexedRecord, IndexId } from '../matching-thread/matching-jobs.ts'
import { matchingThreadPart, requestJob } from '../matching-thread/request-job.ts'
import { settings } from '../settings.ts'

/** Time that a caller waits for an index; then it is asked to retry, and loading continues without it. */
export const max_wait_ms = 3_000
/** Time for which the worker loads an index before it lets waiting callers see it. */
const turn_ms = 500
const retry_after_s = 5
/** An index is evicted, and a refused one is loaded again, after this many times the time that loading it takes. */
const idle_factor = 10
const mib = 1_048_576

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
  /** Memory that it takes. */
  bytes = 0
  /** Time that it took to load. */
  load_ms = 0
  used_ms = 0
  /** Why it is not loaded, and until when nobody tries again. */
  refused: { readonly refusal: Refusal; readonly until_ms: number } | undefined
  #isNew = true
  #isEvicted = false
  #updated: Promise<unknown> = Promise.resolve()

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

  get isEvicted(): boolean {
    return this.#isEvicted
  }

  /** Runs one update at a time. The failure of one, such as that its caller left, does not affect the next. */
  async update<T>(run: () => Promise<T>): Promise<T> {
    const updated = this.#updated.catch(() => undefined).then(run)
    this.#updated = updated
    return await updated
  }

  /** Adds or replaces records. The thread first removes evicted indexes: it needs more memory here alone. */
  async put(call: Call, records: readonly IndexedRecord[]): Promise<void> {
    const evictions = [...this.#evictions]
    const evicted = evictions.map(({ id }) => id)
    const input = { index: this.id, lens: this.lens, records, isNew: this.#isNew, evicted }
    try {
      const { size, bytes } = await requestJob(call, 'put_records', input)
      this.size = size
      this.bytes = bytes
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

/** Loads the next records of an index. `done`: it has all records that the caller must find. Refuses records that it cannot have. */
export type PageLoader = () => Promise<'more' | 'done' | Refusal>

/** Keeps indexes under keys, within the memory for lookups. `V` is what else belongs to an index. */
export class ThreadIndexes<V extends { readonly index: ThreadIndex }> {
  /** Least recently used first. */
  readonly #kept = new Map<string, V>()
  readonly #evictions = new Set<Eviction>()
  #created = 0

  /** Returns what the key holds, as long as its thread runs, and counts it as used. */
  find(call: Call, key: string): V | undefined {
    const kept = this.#kept.get(key)
    if (!kept || kept.index.isLost(call)) return undefined
    const { refused } = kept.index
    if (refused ? call.monotonic() >= refused.until_ms : kept.index.isEvicted) return undefined
    this.keep(call, key, kept)
    return kept
  }

  create(call: Call, lens: Lens): ThreadIndex {
    const { generation } = call.part(matchingThreadPart)
    return new ThreadIndex(String(++this.#created), lens, generation, this.#evictions)
  }

  /** Keeps the value as the most recently used. */
  keep(call: Call, key: string, value: V): void {
    const replaced = this.#kept.get(key)
    this.#kept.delete(key)
    if (replaced && replaced.index !== value.index && !replaced.index.isEvicted) replaced.index.evict()
    value.index.used_ms = call.monotonic()
    this.#kept.set(key, value)
  }

  values(): readonly V[] {
    return [...this.#kept.values()]
  }

  /**
   * Loads an index for at most `wait_ms`: a caller that finds it incomplete is asked to retry, and the next one or the worker
   * continues. Returns the refusal of an index that does not fit.
   */
  async load(call: Call, { index }: V, loadPage: PageLoader, wait_ms = max_wait_ms): Promise<Refusal | undefined> {
    const until_ms = call.monotonic() + wait_ms
    return await index.update(async () => {
      for (;;) {
        if (index.refused) return index.refused.refusal
        const begun_ms = call.monotonic()
        const state = await loadPage()
        index.load_ms += Math.max(0, call.monotonic() - begun_ms)
        const refusal = isRefusal(state) ? state : this.#makeRoom(call, index)
        if (refusal) return refuseIndex(call, index, refusal)
        if (state === 'done') return undefined
        call.signal.throwIfAborted()
        if (call.monotonic() >= until_ms) return loadingRefusal(index)
      }
    })
  }

  /** Loads in short turns until the index is complete, refused or evicted: for the worker, for which no caller waits. */
  async complete(call: Call, value: V, loadPage: PageLoader): Promise<void> {
    const { index } = value
    while (!call.signal.aborted && !index.isEvicted && !index.isLost(call)) {
      const refusal = await this.load(call, value, loadPage, turn_ms)
      if (refusal?.retry_after_s !== retry_after_s) return
    }
  }

  /**
   * Evicts other indexes until all fit, the least recently used first, unless loading those again would take more time than
   * their absence gives: so two that do not fit together never replace each other for each call.
   */
  #makeRoom(call: Call, index: ThreadIndex): Refusal | undefined {
    const { lookup_memory_mb, lookup_records } = call.settings(settings)
    const max_bytes = lookup_memory_mb * mib
    if (index.size > lookup_records)
      return refuse(
        'wrong_state',
        `the registry has more than ${lookup_records} records, which resolution.lookup_records allows: raise the limit`,
      )
    if (index.bytes > max_bytes)
      return refuse(
        'wrong_state',
        `${index.size} records of the registry fill the ${lookup_memory_mb} MiB of resolution.lookup_memory_mb, and it has more: raise the limit`,
      )
    const others = [...this.#kept].filter(([, other]) => other.index !== index && !other.index.isEvicted)
    let used = others.reduce((sum, [, other]) => sum + other.index.bytes, index.bytes)
    for (const [key, { index: other }] of others) {
      if (used <= max_bytes) return undefined
      if (call.monotonic() - other.used_ms < idle_factor * other.load_ms) continue
      this.#kept.delete(key)
      other.evict()
      used -= other.bytes
    }
    if (used <= max_bytes) return undefined
    const text = `other registries in use fill the ${lookup_memory_mb} MiB of resolution.lookup_memory_mb: raise the limit, or retry once they are idle`
    return new Refusal('unavailable', text, [], 60)
  }
}

function refuseIndex(call: Call, index: ThreadIndex, refusal: Refusal): Refusal {
  const wait_ms = Math.max(60_000, idle_factor * index.load_ms)
  index.refused = { refusal, until_ms: call.monotonic() + wait_ms }
  index.evict()
  return refusal
}

function loadingRefusal({ size }: ThreadIndex): Refusal {
  const text = `the records of the registry are being loaded, ${size} so far: retry in ${retry_after_s} seconds`
  return new Refusal('unavailable', text, [], retry_after_s)
}
