// Registries in the matching thread: one index for each lens and clearance, loaded at the first lookup and then kept up
// to date.

import { canonicalJson } from '../../../kernel/encoding/canonical-json.ts'
import type { Refusal } from '../../../kernel/error/errors.ts'
import { dominates, type Viewer } from '../../../kernel/label/label.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { CursorPosition, Doc } from '../../../kernel/store/store.ts'
import { isOfOtherForm } from '../engine/text/text-form.ts'
import { entityRecords, isWithdrawn, type StoredRecord } from '../entity-record/model.ts'
import { refuseOtherForm } from '../entity-record/refuse-other-form.ts'
import { readWriteBounds, type WriteBounds } from '../entity-record/write-numbered.ts'
import type { RegistryKey } from '../fields.ts'
import type { IndexedRecord, IndexId } from '../matching-thread/matching-jobs.ts'
import { type PageLoader, type ThreadIndex, ThreadIndexes } from './thread-indexes.ts'
import type { TrainedLens } from './trained-lens.ts'

type CachedIndex = {
  readonly index: ThreadIndex
  readonly viewer: Viewer
  readonly registry: RegistryKey
  /** The index has every record written under a lower number; 0: it was never complete. */
  below: number
  /** A pass over the records in progress. */
  pass: IndexPass | undefined
  /** The latest run when the index was refused: once another completes, it is loaded again. */
  refusedAfter: string | undefined
}

/** A pass over all records, or over those written since the one before. Whoever comes next continues it. */
type IndexPass = {
  /** Once the pass is over, the index has every record written under a lower number. */
  readonly below: number
  readonly since: number
  /** The last record that was read. */
  after: CursorPosition | undefined
}

/** Records of one page, and of one message to the thread. */
const page_size = 200

/**
 * Caches indexes. Each index has only records that the store returns to a caller of its tenant and clearance, so that
 * neither a record nor a value frequency reaches a caller who may not see it.
 */
export class RegistryIndexCache {
  readonly #indexes = new ThreadIndexes<CachedIndex>()

  /**
   * Returns the index of all current records of the registry. Refuses `unavailable` while they are being loaded, and `wrong_state`
   * for a registry that does not fit.
   */
  async openIndex(call: Call, { run, lens }: TrainedLens): Promise<IndexId | Refusal> {
    const { tenant_id: viewer, clearance } = call.caller
    const { tenant_id, lens: name } = run.value
    const key = canonicalJson({ viewer, clearance, tenant_id, lens_id: lens.id })
    const cached = this.#findIndex(call, key, run.id) ?? {
      ...{ index: this.#indexes.create(call, lens.value.body), viewer: { tenant_id: viewer, clearance } },
      ...{ registry: { tenant_id, lens: name }, below: 0, pass: undefined, refusedAfter: undefined },
    }
    this.#indexes.keep(call, key, cached)
    const bounds = await readWriteBounds(call, cached.registry)
    const refusal = await this.#indexes.load(call, cached, createPageLoader(call, cached, bounds))
    if (!refusal) return cached.index.id
    if (cached.index.refused) cached.refusedAfter ??= run.id
    if (cached.pass) call.wake('registry-index')
    return refusal
  }

  /** A refusal is kept for a while, but a run that completes may have repaired what it was for. */
  #findIndex(call: Call, key: string, run: string): CachedIndex | undefined {
    const cached = this.#indexes.find(call, key)
    const isOutdated = cached?.index.refused && cached.refusedAfter !== undefined && cached.refusedAfter !== run
    return isOutdated ? undefined : cached
  }

  /** Completes the indexes for which nobody waits any longer. */
  async continueLoading(call: Call): Promise<void> {
    for (const cached of this.#indexes.values()) {
      if (!cached.pass) continue
      const loadPage = createPageLoader(call, cached, undefined)
      await this.#indexes.complete(call, cached, loadPage)
    }
  }
}

/**
 * Creates the loader of an index: it continues a pass in progress. `bounds`: those that the caller read before; without them no further
 * pass begins.
 */
function createPageLoader(call: Call, cached: CachedIndex, bounds: WriteBounds | undefined): PageLoader {
  let hasBegunOwn = false
  return async () => {
    if (!cached.pass) {
      if (hasBegunOwn || !bounds || cached.below >= bounds.next) return 'done'
      cached.pass = { below: bounds.below, since: cached.below, after: undefined }
      hasBegunOwn = true
    }
    const refusal = await loadPage(call, cached, cached.pass)
    if (refusal) return refusal
    return cached.pass || !hasBegunOwn ? 'more' : 'done'
  }
}

/** Reads the next records of a pass, in its order. The service reads those of all labels, and leaves out what the viewer may not see. */
async function loadPage(call: Call, cached: CachedIndex, pass: IndexPass): Promise<Refusal | undefined> {
  const { index, registry, viewer } = cached
  const { since, after } = pass
  const isFull = since === 0
  const { docs, next_cursor } = await call.store(entityRecords).list({
    filter: { ...registry, ...(isFull ? {} : { written: { gte: since } }) },
    ...(isFull ? {} : { order: { field: 'written', direction: 'asc' } }),
    ...(after ? { after } : { fresh: true }),
    limit: page_size,
  })
  const stale = docs.find(({ value }) => isVisible(call, viewer, value) && !isWithdrawn(value) && isOfOtherForm(value))
  // What the service finds for an arrival goes to its sender, who may not see every record.
  if (stale) return refuseOtherForm(registry.lens, viewer.tenant_id === '*' ? undefined : stale.value.ref)
  // A record leaves the index with its withdrawal, and where its label became stricter than the viewer's clearance.
  const visible = docs.map((doc) => toIndexedRecord(doc, isVisible(call, viewer, doc.value)))
  await index.put(call, isFull ? visible.filter(({ values }) => values !== undefined) : visible)
  const last = docs.at(-1)
  if (last && next_cursor !== undefined)
    pass.after = { id: last.id, value: isFull ? null : (last.value.written ?? null) }
  else endPass(cached, pass)
  return undefined
}

function endPass(cached: CachedIndex, { below }: IndexPass): void {
  cached.below = Math.max(cached.below, below)
  cached.pass = undefined
}

function isVisible({ site }: Call, viewer: Viewer, { tenant_id, label }: StoredRecord): boolean {
  return viewer.tenant_id === '*' || (viewer.tenant_id === tenant_id && dominates(viewer, label, site.labels))
}

function toIndexedRecord({ id, value }: Doc<StoredRecord>, isVisible: boolean): IndexedRecord {
  const { values, arrived } = value
  return { uid: id, values: isVisible && !isWithdrawn(value) ? values : undefined, isCounted: arrived === undefined }
}
