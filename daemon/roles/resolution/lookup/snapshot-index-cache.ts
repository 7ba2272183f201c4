// Snapshots of other sites' registries in memory: one copy of each, and one index of visible records for each
// clearance.

import { canonicalJson } from '../../../kernel/encoding/canonical-json.ts'
import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import { dominates, joinLabels, type Label } from '../../../kernel/label/label.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { FieldValues } from '../engine/lookup/keys.ts'
import { isOfOtherForm } from '../engine/text/text-form.ts'
import { recordUid } from '../entity-record/model.ts'
import type { RecordRef } from '../fields.ts'
import type { IndexedRecord, IndexId } from '../matching-thread/matching-jobs.ts'
import { compareRefs } from '../order-refs.ts'
import { type ImportedSnapshot, snapshotStorePart } from '../parts.ts'
import { settings } from '../settings.ts'
import type { LensLine } from '../snapshot/model.ts'
import type { LookupEntity, LookupRegistry } from './lookup-registry.ts'
import { type PageLoader, type ThreadIndex, ThreadIndexes } from './thread-indexes.ts'
import type { LensSelector } from './trained-lens.ts'

type SnapshotRecord = {
  readonly ref: RecordRef
  readonly values: FieldValues
  readonly entity: string
  readonly label: number
}

type SnapshotIndex = {
  readonly index: ThreadIndex
  readonly pages: Iterator<readonly IndexedRecord[], undefined>
  next?: readonly IndexedRecord[] | undefined
}

type LoadedSnapshot = {
  readonly key: string
  readonly snapshot: ImportedSnapshot
  readonly lensLine: LensLine
  readonly labels: readonly Label[]
  /** By uid. */
  readonly records: ReadonlyMap<string, SnapshotRecord>
  /** By id, in the order of the records. */
  readonly entities: ReadonlyMap<string, readonly SnapshotRecord[]>
}

export class SnapshotIndexCache {
  readonly #copies = new Map<string, Promise<LoadedSnapshot | Refusal>>()
  /** By snapshot and clearance. */
  readonly #indexes = new ThreadIndexes<SnapshotIndex>()

  /** Opens the only snapshot that matches the selector and that the caller may see. */
  async openRegistry(call: Call, selector: LensSelector): Promise<LookupRegistry | Refusal> {
    const matching = await this.#findSnapshots(call, selector)
    if (isRefusal(matching)) return matching
    const [first, ...others] = matching
    if (!first) return refuse('not_found', 'no imported snapshot of a registry matches the request; import one first')
    if (others.length > 0) {
      const message = `several lenses are in use (${matching.map(({ lensLine }) => lensLine.body.lens).join(', ')}): set lens_id`
      return refuse('invalid', message, [{ path: 'lens_id', message }])
    }
    return await this.#createRegistry(call, first)
  }

  async #findSnapshots(
    call: Call,
    { lens_id, lens_version, entity_type }: LensSelector,
  ): Promise<LoadedSnapshot[] | Refusal> {
    const { caller, site } = call
    const snapshots = caller.tenant_id === site.tenant_id ? await call.part(snapshotStorePart).list() : []
    const matching = snapshots.filter(({ manifest }) => {
      const isLens = lens_id === undefined || manifest.lens === lens_id
      const isVersion = lens_version === undefined || manifest.lens_version === lens_version
      return isLens && isVersion && (entity_type === undefined || manifest.entity_type === entity_type)
    })
    const copies: LoadedSnapshot[] = []
    for (const snapshot of matching) {
      const copy = await this.#loadOnce(call, snapshot)
      if (isRefusal(copy)) return copy
      if (dominates(caller, getLabel(copy, copy.lensLine.label), site.labels)) copies.push(copy)
    }
    return copies
  }

  async #loadOnce(call: Call, snapshot: ImportedSnapshot): Promise<LoadedSnapshot | Refusal> {
    const { lens, records } = snapshot.manifest
    const max_records = call.settings(settings).lookup_records
    if (records > max_records) {
      return refuse(
        'wrong_state',
        `the snapshot has ${records} records; resolution.lookup_records allows ${max_records}: raise the limit`,
      )
    }
    const cached = await this.#copies.get(lens)
    if (cached && !isRefusal(cached) && cached.key === snapshot.key) return cached
    const loading = loadSnapshot(call, snapshot)
    this.#copies.set(lens, loading)
    const copy = await loading.catch((error: unknown) => {
      this.#copies.delete(lens)
      throw error
    })
    // Do not cache a failed read: retry it at the next lookup.
    if (isRefusal(copy)) this.#copies.delete(lens)
    return copy
  }

  async #createRegistry(call: Call, copy: LoadedSnapshot): Promise<LookupRegistry | Refusal> {
    const { lensLine, records, entities, snapshot } = copy
    const visible = copy.labels.map((label) => dominates(call.caller, label, call.site.labels))
    const { tenant_id } = snapshot.manifest
    const index = await this.#openIndex(call, copy, visible)
    if (isRefusal(index)) return index
    return {
      lens: lensLine.body,
      tenant_id,
      run: { id: lensLine.run_id, route: lensLine.route },
      weights: lensLine.weights,
      index,
      async record(uid) {
        const record = records.get(uid)
        return record && visible[record.label] ? record : undefined
      },
      entity: async (id) => findSnapshotEntity(call, copy, id, entities.get(id) ?? []),
    }
  }

  async #openIndex(call: Call, copy: LoadedSnapshot, visible: readonly boolean[]): Promise<IndexId | Refusal> {
    const { key, lensLine } = copy
    const indexKey = canonicalJson({ key, visible: [...visible] })
    const cached = this.#indexes.find(call, indexKey) ?? {
      index: this.#indexes.create(call, lensLine.body),
      pages: iteratePages(copy, visible),
    }
    this.#indexes.keep(call, indexKey, cached)
    const refusal = await this.#indexes.load(call, cached, createPageLoader(call, cached))
    if (!refusal) return cached.index.id
    call.wake('registry-index')
    return refusal
  }

  /** Completes the indexes for which nobody waits any longer. */
  async continueLoading(call: Call): Promise<void> {
    for (const cached of this.#indexes.values())
      await this.#indexes.complete(call, cached, createPageLoader(call, cached))
  }
}

/** Records of one message to the thread. */
const page_size = 200

/** Pages of visible records; whoever comes next continues with them. */
function* iteratePages(
  { records }: LoadedSnapshot,
  visible: readonly boolean[],
): Generator<readonly IndexedRecord[], undefined> {
  let page: IndexedRecord[] = []
  for (const [uid, { values, label }] of records) {
    if (visible[label]) page.push({ uid, values, isCounted: true })
    if (page.length < page_size) continue
    yield page
    page = []
  }
  yield page
}

/** A page that was not put is put again, since nobody may continue behind it. */
function createPageLoader(call: Call, cached: SnapshotIndex): PageLoader {
  return async () => {
    const page = cached.next ?? cached.pages.next().value
    if (!page) return 'done'
    cached.next = page
    await cached.index.put(call, page)
    cached.next = undefined
    return 'more'
  }
}

function getLabel({ labels }: Pick<LoadedSnapshot, 'labels'>, index: number): Label {
  const label = labels[index]
  if (!label) throw new RangeError(`the snapshot has no label ${index}`)
  return label
}

async function loadSnapshot(call: Call, snapshot: ImportedSnapshot): Promise<LoadedSnapshot | Refusal> {
  const { lens, tenant_id, text_form } = snapshot.manifest
  const content = await call.part(snapshotStorePart).read(lens)
  if (isRefusal(content)) return content
  const records = new Map<string, SnapshotRecord>()
  const entities = new Map<string, SnapshotRecord[]>()
  let lensLine: LensLine | undefined
  for await (const line of content.lines) {
    if (line.kind === 'lens') lensLine = line
    if (line.kind !== 'record') continue
    const { ref, values, entity, label } = line
    if (isOfOtherForm({ values, text_form })) return refuseForeignForm(snapshot)
    const record = { ref, values, entity, label }
    records.set(recordUid(tenant_id, lens, ref), record)
    const members = entities.get(entity)
    if (members) members.push(record)
    else entities.set(entity, [record])
  }
  if (!lensLine) return refuse('unavailable', 'the snapshot of the registry is damaged: import it again')
  return { key: snapshot.key, snapshot, lensLine, labels: content.labels, records, entities }
}

function refuseForeignForm({ manifest: { lens, from } }: ImportedSnapshot): Refusal {
  return refuse(
    'wrong_state',
    `the snapshot of ${lens} has values in another normal form of texts: run the same version of the product at ${from} and here, have ${from} make it again, and import it`,
  )
}

/**
 * Finds an entity. Its label joins the labels of all its records, so a caller who may not see one of them does not see
 * the entity.
 */
function findSnapshotEntity(
  call: Call,
  copy: LoadedSnapshot,
  id: string,
  members: readonly SnapshotRecord[],
): LookupEntity | undefined {
  const policy = call.site.labels
  const [first, ...rest] = members.map(({ label }) => getLabel(copy, label))
  const label = rest.reduce((joined: Label | undefined, other) => joined && joinLabels(joined, other, policy), first)
  if (!label || !dominates(call.caller, label, policy)) return undefined
  const refs: RecordRef[] = members.map(({ ref }) => ref)
  return { id, label, size: refs.length, members: refs.sort(compareRefs) }
}
