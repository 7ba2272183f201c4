// Registries in memory: one index for each lens and clearance, loaded at the first lookup and then kept up to date.

import { canonicalJson } from '../../../kernel/encoding/canonical-json.ts'
import { type Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { DocumentPage } from '../../../kernel/store/store.ts'
import { createLookupKeys } from '../engine/lookup/keys.ts'
import { LookupIndex } from '../engine/lookup/lookup-index.ts'
import { entityRecords, type StoredRecord } from '../entity-record/model.ts'
import { readWriteBounds } from '../entity-record/write-numbered.ts'
import type { RegistryKey } from '../fields.ts'
import { settings } from '../settings.ts'
import type { TrainedLens } from './trained-lens.ts'

type CachedIndex = {
  readonly run_id: string
  readonly index: LookupIndex
  /** The index has every record written under a lower number. */
  below: number
  /** The current refresh; the next one waits for it. */
  refresh: Promise<void>
}

const page_size = 500

/**
 * Caches indexes. Each index has only records that the store returns to a caller of its tenant and clearance, so that
 * neither a record nor a value frequency reaches a caller who may not see it.
 */
export class RegistryIndexCache {
  /** Least recently used first. */
  readonly #indexes = new Map<string, CachedIndex>()

  /** Returns the index of all current records of the registry; a new run of the lens rebuilds it. */
  async openIndex(call: Call, trained: TrainedLens): Promise<LookupIndex | Refusal> {
    const { tenant_id: viewer, clearance } = call.caller
    const { tenant_id, lens } = trained.run.value
    const key = canonicalJson({ viewer, clearance, tenant_id, lens })
    const max_records = call.settings(settings).lookup_records
    const records = await call.store(entityRecords).count({ tenant_id, lens })
    if (records > max_records) {
      return refuse(
        'wrong_state',
        `the registry has ${records} records; resolution.lookup_records allows ${max_records}: raise the limit`,
      )
    }
    const before = this.#indexes.get(key)
    const cached = before?.run_id === trained.run.id ? before : createCachedIndex(trained)
    this.#indexes.delete(key)
    this.#indexes.set(key, cached)
    this.#makeRoom(key, max_records - records)
    cached.refresh = cached.refresh.catch(() => undefined).then(() => refreshIndex(call, { tenant_id, lens }, cached))
    await cached.refresh
    return cached.index
  }

  /** Evicts the least recently used indexes first. */
  #makeRoom(current: string, room: number): void {
    const others = [...this.#indexes].filter(([key]) => key !== current)
    let used = others.reduce((sum, [, { index }]) => sum + index.size, 0)
    for (const [key, { index }] of others) {
      if (used <= room) return
      this.#indexes.delete(key)
      used -= index.size
    }
  }
}

function createCachedIndex({ run, lens }: TrainedLens): CachedIndex {
  return {
    run_id: run.id,
    index: new LookupIndex(createLookupKeys(lens.value.body)),
    below: 0,
    refresh: Promise.resolve(),
  }
}

/** Reads all records at first, then only records written since. */
async function refreshIndex(call: Call, registry: RegistryKey, cached: CachedIndex): Promise<void> {
  const { below, next } = await readWriteBounds(call, registry)
  if (cached.below === next) return
  const since = cached.below === 0 ? {} : { written: { gte: cached.below } }
  let cursor: string | undefined
  do {
    call.signal.throwIfAborted()
    const page: DocumentPage<StoredRecord> = await call.store(entityRecords).list({
      ...{ filter: { tenant_id: registry.tenant_id, lens: registry.lens, ...since }, limit: page_size },
      ...(cursor === undefined ? {} : { cursor }),
      fresh: true,
    })
    for (const { id, value } of page.docs) cached.index.put(id, value.values, value.arrived === undefined)
    cursor = page.next_cursor
  } while (cursor)
  cached.below = below
}
