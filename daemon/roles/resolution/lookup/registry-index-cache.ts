// Registries in the matching thread: one index for each lens and clearance, loaded at the first lookup and then kept up
// to date.

import { canonicalJson } from '../../../kernel/encoding/canonical-json.ts'
import { type Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { iterateDocuments } from '../../../kernel/store/iterate-documents.ts'
import { entityRecords } from '../entity-record/model.ts'
import { readWriteBounds } from '../entity-record/write-numbered.ts'
import type { RegistryKey } from '../fields.ts'
import type { IndexedRecord, IndexId } from '../matching-thread/matching-jobs.ts'
import { settings } from '../settings.ts'
import { type ThreadIndex, ThreadIndexes } from './thread-indexes.ts'
import type { TrainedLens } from './trained-lens.ts'

type CachedIndex = {
  readonly run_id: string
  readonly index: ThreadIndex
  /** The index has every record written under a lower number. */
  below: number
}

/** Records of one page, and of one message to the thread. */
const page_size = 200

/**
 * Caches indexes. Each index has only records that the store returns to a caller of its tenant and clearance, so that
 * neither a record nor a value frequency reaches a caller who may not see it.
 */
export class RegistryIndexCache {
  readonly #indexes = new ThreadIndexes<CachedIndex>()

  /** Returns the index of all current records of the registry; a new run of the lens rebuilds it. */
  async openIndex(call: Call, trained: TrainedLens): Promise<IndexId | Refusal> {
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
    const before = this.#indexes.find(call, key)
    const cached = before?.run_id === trained.run.id ? before : this.#createIndex(call, trained)
    this.#indexes.keep(key, cached, max_records - records)
    await cached.index.update(() => refreshIndex(call, { tenant_id, lens }, cached))
    return cached.index.id
  }

  #createIndex(call: Call, { run, lens }: TrainedLens): CachedIndex {
    return { run_id: run.id, index: this.#indexes.create(call, lens.value.body), below: 0 }
  }
}

/** Reads all records at first, then only records written since. */
async function refreshIndex(call: Call, registry: RegistryKey, cached: CachedIndex): Promise<void> {
  const { below, next } = await readWriteBounds(call, registry)
  if (cached.below === next) return
  const { tenant_id, lens } = registry
  const since = cached.below === 0 ? {} : { written: { gte: cached.below } }
  const query = { filter: { tenant_id, lens, ...since }, fresh: true, page_size }
  let page: IndexedRecord[] = []
  for await (const { id, value } of iterateDocuments(call.store(entityRecords), query)) {
    page.push({ uid: id, values: value.values, isCounted: value.arrived === undefined })
    if (page.length < page_size) continue
    call.signal.throwIfAborted()
    await cached.index.put(call, page)
    page = []
  }
  await cached.index.put(call, page)
  cached.below = below
}
