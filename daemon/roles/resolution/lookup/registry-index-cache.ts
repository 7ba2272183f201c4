// Registries in memory: of each lens the records that one clearance may see, read when first asked for and kept up to date.

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
  /** It has every record that was written under a lower number. */
  below: number
  /** How it is being brought up to date; the next waits for it. */
  reading: Promise<void>
}

const page_size = 500

/**
 * Each holds what the store tells a caller of that tenant and clearance and nothing else, so that neither a record nor how often
 * its values come reaches anybody who may not know of it.
 */
export class RegistryIndexCache {
  /** In the order in which they were last asked for. */
  readonly #held = new Map<string, CachedIndex>()

  /** The index of all records that the registry has now; a new run of the lens has it read anew. */
  async openIndex(call: Call, learnt: TrainedLens): Promise<LookupIndex | Refusal> {
    const { tenant_id: viewer, clearance } = call.caller
    const { tenant_id, lens } = learnt.run.value
    const key = canonicalJson({ viewer, clearance, tenant_id, lens })
    const most = call.settings(settings).lookup_records
    const records = await call.store(entityRecords).count({ tenant_id, lens })
    if (records > most) {
      return refuse('wrong_state', `the registry has ${records} records, and this site looks up in ${most} at most`)
    }
    const before = this.#held.get(key)
    const held = before?.run_id === learnt.run.id ? before : createCachedIndex(learnt)
    this.#held.delete(key)
    this.#held.set(key, held)
    this.#makeRoom(key, most - records)
    held.reading = held.reading.catch(() => undefined).then(() => refreshIndex(call, { tenant_id, lens }, held))
    await held.reading
    return held.index
  }

  /** Those that were asked for longest ago go first. */
  #makeRoom(wanted: string, room: number): void {
    const others = [...this.#held].filter(([key]) => key !== wanted)
    let taken = others.reduce((sum, [, { index }]) => sum + index.size, 0)
    for (const [key, { index }] of others) {
      if (taken <= room) return
      this.#held.delete(key)
      taken -= index.size
    }
  }
}

function createCachedIndex({ run, lens }: TrainedLens): CachedIndex {
  return {
    run_id: run.id,
    index: new LookupIndex(createLookupKeys(lens.value.body)),
    below: 0,
    reading: Promise.resolve(),
  }
}

/** All records at first, then those that were written since. */
async function refreshIndex(call: Call, whose: RegistryKey, held: CachedIndex): Promise<void> {
  const { below, next } = await readWriteBounds(call, whose)
  if (held.below === next) return
  const since = held.below === 0 ? {} : { written: { gte: held.below } }
  let cursor: string | undefined
  do {
    call.signal.throwIfAborted()
    const page: DocumentPage<StoredRecord> = await call.store(entityRecords).list({
      ...{ filter: { tenant_id: whose.tenant_id, lens: whose.lens, ...since }, limit: page_size },
      ...(cursor === undefined ? {} : { cursor }),
      fresh: true,
    })
    for (const { id, value } of page.docs) held.index.put(id, value.values, value.arrived === undefined)
    cursor = page.next_cursor
  } while (cursor)
  held.below = below
}
