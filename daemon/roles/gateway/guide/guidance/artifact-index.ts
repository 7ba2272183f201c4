// The active artifacts of the site in memory, in the order of their ranks, and the sets of guidance that were selected from them.
import { dominates, type LabelPolicy, type Viewer } from '../../../../kernel/label/label.ts'
import type { ArtifactType } from '../artifact/content.ts'
import { findIntents, preferenceOf, shareIntent } from './intent-preference.ts'
import type { GuidanceScope, StoredGuidance } from './model.ts'
import {
  type AttachableType,
  compareArtifacts,
  type IndexedArtifact,
  isAddressedTo,
  isUsable,
  type Selection,
  selectGuidance,
  summariseSelection,
} from './rules.ts'
import type { KeyedTools } from './usable-tools.ts'

/** For which subscriber a set is selected. */
export type GuidanceReader = {
  readonly scope: GuidanceScope
  readonly viewer: Viewer
  readonly usable: KeyedTools
  /** Class of the intent of a workflow: where a cap binds, what is for it comes before what is for others. */
  readonly intent?: string | undefined
}

export type GuidanceSet = Selection & {
  readonly reader: GuidanceReader
  /** Null: nothing is attached. */
  readonly block: StoredGuidance | null
  readonly bytes: number
}

export type ArtifactChange = { readonly id: string; readonly artifact: IndexedArtifact | undefined }

export type IndexTerms = {
  readonly caps: Readonly<Record<AttachableType, number>>
  readonly max_bytes: number
  /** Estimated tokens for each layer of subscribers; absent: no bound. */
  readonly max_tokens?: Readonly<Partial<Record<SubscriberLayer, number | undefined>>>
  readonly policy: LabelPolicy
}
type SubscriberLayer = 'l1' | 'l2' | 'l3'

type TenantArtifacts = {
  readonly byType: Map<ArtifactType, IndexedArtifact[]>
  /** Ids that active artifacts supersede, with the number of those. */
  superseded: ReadonlySet<string>
  /** Classes of intents of workflows that artifacts are about; undefined: no artifact is for workflows. */
  intents: ReadonlySet<string> | undefined
  as_of: number
  readonly sets: Map<string, { readonly set: GuidanceSet; isUsed: boolean }>
}

/** Of one tenant: sets of other subscribers than these are selected for each request. */
const max_sets = 512
const max_late = 32

export class ArtifactIndex {
  readonly #terms: IndexTerms
  readonly #tenants = new Map<string, TenantArtifacts>()
  readonly #late = new Map<string, GuidanceReader>()
  readonly #byId = new Map<string, IndexedArtifact>()
  /** False until the store was read once: there is no guidance before. */
  isLoaded = false

  constructor(terms: IndexTerms) {
    this.#terms = terms
  }

  get size(): number {
    return this.#byId.size
  }

  listIds(): Iterable<string> {
    return this.#byId.keys()
  }

  /** Subscribers whose sets took too long, since the last call: prepared, they are there for the next request. */
  takeLate(): readonly GuidanceReader[] {
    const late = [...this.#late.values()]
    this.#late.clear()
    return late
  }

  /** Applies changes, and returns the subscribers whose sets they have made obsolete: those that were used since the last change. */
  apply(changes: readonly ArtifactChange[], now: number): readonly GuidanceReader[] {
    const touched = new Map<TenantArtifacts, Set<ArtifactType>>()
    const touch = ({ tenant_id, type }: IndexedArtifact) => {
      const tenant = this.#tenantOf(tenant_id)
      touched.set(tenant, (touched.get(tenant) ?? new Set()).add(type))
    }
    for (const { id, artifact } of changes) {
      const before = this.#byId.get(id)
      if (before) touch(before)
      if (artifact) touch(artifact)
      if (artifact) this.#byId.set(id, artifact)
      else this.#byId.delete(id)
    }
    const added = Map.groupBy(new Set(changes.flatMap(({ id }) => this.#byId.get(id) ?? [])), ({ tenant_id }) =>
      this.#tenantOf(tenant_id),
    )
    return [...touched].flatMap(([tenant, types]) => this.#renew(tenant, types, added.get(tenant) ?? [], now))
  }

  #tenantOf(tenant_id: string): TenantArtifacts {
    const known = this.#tenants.get(tenant_id)
    if (known) return known
    const tenant = { byType: new Map(), superseded: new Set<string>(), intents: undefined, as_of: 0, sets: new Map() }
    this.#tenants.set(tenant_id, tenant)
    return tenant
  }

  /** Lists that are nearly sorted are sorted in linear time. */
  #renew(
    tenant: TenantArtifacts,
    types: ReadonlySet<ArtifactType>,
    added: readonly IndexedArtifact[],
    now: number,
  ): readonly GuidanceReader[] {
    for (const type of types) {
      const kept = (tenant.byType.get(type) ?? []).filter((each) => this.#byId.get(each.id) === each)
      const known = new Set(kept)
      const more = added.filter((each) => each.type === type && !known.has(each)).sort(compareArtifacts)
      tenant.byType.set(type, [...kept, ...more].sort(compareArtifacts))
    }
    const all = [...tenant.byType.values()].flat()
    tenant.superseded = new Set(all.flatMap(({ supersedes }) => supersedes))
    tenant.intents = findIntents(all)
    tenant.as_of = now
    const readers = [...tenant.sets.values()].flatMap(({ set, isUsed }) => (isUsed ? [set.reader] : []))
    tenant.sets.clear()
    return readers
  }

  /** Selects the set of a subscriber before it is requested. */
  prepare(of: GuidanceReader): void {
    const tenant = this.#tenants.get(of.viewer.tenant_id)
    const reader = tenant ? shareIntent(tenant, of) : of
    const set = tenant && this.#select(tenant, reader)
    if (tenant && set) this.#keep(tenant, keyOf(reader), set, false)
  }

  /** The set of a subscriber; undefined: it took too long. */
  find(of: GuidanceReader, isLate: () => boolean): GuidanceSet | undefined {
    const tenant = this.#tenants.get(of.viewer.tenant_id)
    if (!tenant) return { ...nothing, reader: of }
    const reader = shareIntent(tenant, of)
    const key = keyOf(reader)
    const known = tenant.sets.get(key)
    if (known) {
      known.isUsed = true
      return known.set
    }
    const set = this.#select(tenant, reader, { isLate })
    if (set) this.#keep(tenant, key, set, true)
    else if (this.#late.size < max_late) this.#late.set(`${reader.viewer.tenant_id} ${key}`, reader)
    return set
  }

  /** The artifacts of one type that a subscriber may have, by rank, whatever the caps are; for previews. */
  listVisible(reader: GuidanceReader, type: ArtifactType): readonly IndexedArtifact[] {
    const tenant = this.#tenants.get(reader.viewer.tenant_id)
    if (!tenant) return []
    return (tenant.byType.get(type) ?? []).filter(this.#filterFor(tenant, reader))
  }

  /** The active artifacts of a tenant that a viewer may read, whatever they are for; for statistics. */
  listReadable(viewer: Viewer): readonly IndexedArtifact[] {
    const all = [...(this.#tenants.get(viewer.tenant_id)?.byType.values() ?? [])].flat()
    return all.filter(this.#readFilter(viewer))
  }

  /** The set as of now, or that for one class of intents: without artifacts that are for another one. For previews. */
  select(reader: GuidanceReader, intent_class: string | undefined): GuidanceSet {
    const tenant = this.#tenants.get(reader.viewer.tenant_id)
    const suits = ({ attached }: IndexedArtifact) =>
      intent_class === undefined || (attached.applicability.intent_class ?? intent_class) === intent_class
    return (tenant && this.#select(tenant, reader, { suits })) ?? { ...nothing, reader }
  }

  #keep(tenant: TenantArtifacts, key: string, set: GuidanceSet, isUsed: boolean): void {
    if (tenant.sets.size >= max_sets) tenant.sets.clear()
    tenant.sets.set(key, { set, isUsed })
  }

  #select(
    tenant: TenantArtifacts,
    reader: GuidanceReader,
    more: { readonly isLate?: () => boolean; readonly suits?: (artifact: IndexedArtifact) => boolean } = {},
  ): GuidanceSet | undefined {
    const { caps, max_bytes, max_tokens = {} } = this.#terms
    const mayRead = this.#filterFor(tenant, reader)
    const { isLate = () => false, suits = () => true } = more
    const mayHave = (artifact: IndexedArtifact) => mayRead(artifact) && suits(artifact)
    const isPreferred = preferenceOf(reader.intent)
    const selection = selectGuidance(tenant.byType, {
      ...{ caps, max_bytes, max_tokens: max_tokens[layerOf(reader.scope)], mayHave, isPreferred, isLate },
    })
    if (!selection) return undefined
    const block = selection.attached.length === 0 ? null : buildBlock(selection, tenant.as_of)
    return { ...selection, reader, block, bytes: block ? Buffer.byteLength(JSON.stringify(block)) : 0 }
  }

  #filterFor(
    tenant: TenantArtifacts,
    { scope, viewer, usable }: GuidanceReader,
  ): (artifact: IndexedArtifact) => boolean {
    const mayRead = this.#readFilter(viewer)
    return (artifact) =>
      isAddressedTo(scope, artifact) &&
      !tenant.superseded.has(artifact.id) &&
      mayRead(artifact) &&
      isUsable(artifact, usable)
  }

  #readFilter(viewer: Viewer): (artifact: IndexedArtifact) => boolean {
    const { policy } = this.#terms
    const isVisible = new Map<string, boolean>()
    return ({ label, label_key }) => {
      const known = isVisible.get(label_key)
      if (known !== undefined) return known
      const verdict = label === undefined || dominates(viewer, label, policy)
      isVisible.set(label_key, verdict)
      return verdict
    }
  }
}

const nothing = {
  ...{ attached: [], capped: [], cappedCounts: new Map<ArtifactType, number>(), heldByBudget: new Map() },
  ...{ block: null, bytes: 0 },
}

function layerOf(scope: GuidanceScope): SubscriberLayer {
  return scope === 'l1' || scope === 'l2' ? scope : 'l3'
}

function buildBlock(selection: Selection, as_of: number): StoredGuidance {
  return {
    as_of: new Date(as_of).toISOString(),
    artifacts: selection.attached.map(({ attached }) => attached as StoredGuidance['artifacts'][number]),
    rationale_summary: summariseSelection(selection),
  }
}

function keyOf({ scope, viewer: { clearance }, usable, intent }: GuidanceReader): string {
  const { level = '', categories = [], nationality = '' } = clearance ?? {}
  return JSON.stringify([scope, level, categories, nationality, usable.key, ...(intent === undefined ? [] : [intent])])
}
