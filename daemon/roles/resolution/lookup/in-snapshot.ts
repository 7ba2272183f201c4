// Snapshots of other sites' registries in memory: one copy of each, and for each clearance an index of what that may see.
import type { Call } from '../../../kernel/call.ts'
import { canonical } from '../../../kernel/canonical.ts'
import { isRefused, type Refused, refuse } from '../../../kernel/errors.ts'
import { dominates, join, type Label } from '../../../kernel/label.ts'
import { LookupIndex } from '../engine/lookup/keyed-records.ts'
import { lookupKeys } from '../engine/lookup/keys.ts'
import { recordUid } from '../entity-record/model.ts'
import type { RecordRef } from '../fields.ts'
import { type HeldSnapshot, snapshotsPart } from '../parts.ts'
import { settings } from '../settings.ts'
import type { LensLine } from '../snapshot/model.ts'
import type { Known, KnownEntity, KnownRecord } from './known.ts'
import type { Asked } from './learnt.ts'

type Copied = KnownRecord & { readonly label: number }

type Copy = {
  readonly key: string
  readonly held: HeldSnapshot
  readonly of: LensLine
  readonly labels: readonly Label[]
  /** By uid. */
  readonly records: ReadonlyMap<string, Copied>
  /** By id, in the order of the records. */
  readonly entities: ReadonlyMap<string, readonly Copied[]>
}

export class SnapshotLookups {
  readonly #copies = new Map<string, Promise<Copy | Refused>>()
  /** By snapshot and clearance, in the order in which they were last asked for. */
  readonly #indexes = new Map<string, LookupIndex>()

  /** The one snapshot that is meant, as the caller may know it. */
  async of(call: Call, asked: Asked): Promise<Known | Refused> {
    const meant = await this.#meant(call, asked)
    if (isRefused(meant)) return meant
    const [first, ...others] = meant
    if (!first) return refuse('not_found', 'no snapshot of a registry is here for this')
    if (others.length > 0) {
      const message = `several lenses are in use (${meant.map(({ of }) => of.body.lens).join(', ')}): say which`
      return refuse('invalid', message, [{ path: 'lens_id', message }])
    }
    return this.#known(call, first)
  }

  async #meant(call: Call, { lens_id, lens_version, entity_type }: Asked): Promise<Copy[] | Refused> {
    const { caller, site } = call
    const all = caller.tenant_id === site.tenant_id ? await call.part(snapshotsPart).list() : []
    const meant = all.filter(({ manifest }) => {
      const isLens = lens_id === undefined || manifest.lens === lens_id
      const isVersion = lens_version === undefined || manifest.lens_version === lens_version
      return isLens && isVersion && (entity_type === undefined || manifest.entity_type === entity_type)
    })
    const copies: Copy[] = []
    for (const held of meant) {
      const copy = await this.#copyOf(call, held)
      if (isRefused(copy)) return copy
      if (dominates(caller, labelAt(copy, copy.of.label), site.labels)) copies.push(copy)
    }
    return copies
  }

  async #copyOf(call: Call, held: HeldSnapshot): Promise<Copy | Refused> {
    const { lens, records } = held.manifest
    const most = call.settings(settings).lookup_records
    if (records > most) {
      return refuse('wrong_state', `the snapshot has ${records} records, and this site looks up in ${most} at most`)
    }
    const known = await this.#copies.get(lens)
    if (known && !isRefused(known) && known.key === held.key) return known
    const reading = copied(call, held)
    this.#copies.set(lens, reading)
    const copy = await reading.catch((error: unknown) => {
      this.#copies.delete(lens)
      throw error
    })
    // What cannot be read is looked at again the next time.
    if (isRefused(copy)) this.#copies.delete(lens)
    return copy
  }

  #known(call: Call, copy: Copy): Known {
    const { of, records, entities, held } = copy
    const sees = copy.labels.map((label) => dominates(call.caller, label, call.site.labels))
    const { tenant_id } = held.manifest
    return {
      lens: of.body,
      run: { id: of.run_id, route: of.route },
      weights: of.weights,
      index: this.#indexOf(call, copy, sees),
      uidOf: (ref) => recordUid(tenant_id, of.body.lens, ref),
      async record(uid) {
        const found = records.get(uid)
        return found && sees[found.label] ? found : undefined
      },
      entity: async (id) => entityOf(call, copy, id, entities.get(id) ?? []),
    }
  }

  #indexOf(call: Call, { key, of, records }: Copy, sees: readonly boolean[]): LookupIndex {
    const whose = canonical({ key, sees: [...sees] })
    const known = this.#indexes.get(whose)
    this.#indexes.delete(whose)
    const index = known ?? new LookupIndex(lookupKeys(of.body))
    if (!known) for (const [uid, record] of records) if (sees[record.label]) index.put(uid, record.values)
    this.#indexes.set(whose, index)
    this.#makeRoom(call.settings(settings).lookup_records)
    return index
  }

  /** Those that were asked for longest ago go first, and never the last. */
  #makeRoom(most: number): void {
    let taken = [...this.#indexes.values()].reduce((sum, { size }) => sum + size, 0)
    for (const [key, { size }] of this.#indexes) {
      if (taken <= most || this.#indexes.size === 1) return
      this.#indexes.delete(key)
      taken -= size
    }
  }
}

function labelAt({ labels }: Pick<Copy, 'labels'>, place: number): Label {
  const label = labels[place]
  if (!label) throw new RangeError(`a snapshot without its label ${place}`)
  return label
}

async function copied(call: Call, held: HeldSnapshot): Promise<Copy | Refused> {
  const { lens, tenant_id } = held.manifest
  const read = await call.part(snapshotsPart).read(lens)
  if (isRefused(read)) return read
  const records = new Map<string, Copied>()
  const entities = new Map<string, Copied[]>()
  let of: LensLine | undefined
  for await (const line of read.lines) {
    if (line.kind === 'lens') of = line
    if (line.kind !== 'record') continue
    const { ref, values, entity, label } = line
    const record = { ref, values, entity, label }
    records.set(recordUid(tenant_id, lens, ref), record)
    const members = entities.get(entity)
    if (members) members.push(record)
    else entities.set(entity, [record])
  }
  if (!of) return refuse('unavailable', 'the snapshot of the registry is damaged: take it in again')
  return { key: held.key, held, of, labels: read.labels, records, entities }
}

/** As elsewhere its label is that of all its records: who may not see one of them does not see it. */
function entityOf(call: Call, copy: Copy, id: string, members: readonly Copied[]): KnownEntity | undefined {
  const policy = call.site.labels
  const [first, ...rest] = members.map(({ label }) => labelAt(copy, label))
  const label = rest.reduce((all: Label | undefined, each) => all && join(all, each, policy), first)
  if (!label || !dominates(call.caller, label, policy)) return undefined
  const refs: RecordRef[] = members.map(({ ref }) => ref)
  return { id, label, size: refs.length, members: refs.sort(inOrder) }
}

function inOrder(one: RecordRef, other: RecordRef): number {
  if (one.node_id !== other.node_id) return one.node_id < other.node_id ? -1 : 1
  return one.record_id < other.record_id ? -1 : 1
}
