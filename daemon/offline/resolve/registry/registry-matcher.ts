// Matches new records against a registry that is held in memory.
import { createLookupKeys } from '../../../roles/resolution/engine/lookup/keys.ts'
import { LookupIndex } from '../../../roles/resolution/engine/lookup/lookup-index.ts'
import { recordUid } from '../../../roles/resolution/entity-record/model.ts'
import type { Lens } from '../../../roles/resolution/lens/model.ts'
import type { JoinableRecord } from '../../../roles/resolution/registry/arrival-scores.ts'
import { type ArrivalClustering, joinArrivals } from '../../../roles/resolution/registry/join-arrivals.ts'
import { singletonClusterName } from '../../../roles/resolution/registry/record-key.ts'
import type { EntityRegistry } from './entity-registry.ts'
import { buildMemberKey, parseMemberKey, type RegistryContent, type RegistryRecord } from './registry-content.ts'

/** A record of the registry with its key. */
export type KeyedArrival = JoinableRecord & { readonly key: string }

/** The registry in memory with the new records, and their matching. */
export class RegistryMatcher {
  readonly records: Map<string, RegistryRecord>
  readonly #lens: Lens
  readonly #content: RegistryContent
  readonly #byUid = new Map<string, KeyedArrival>()
  readonly #byBase = new Map<string, KeyedArrival[]>()
  readonly #pending: KeyedArrival[] = []
  readonly #index: LookupIndex

  constructor(
    lens: Lens,
    { entities }: EntityRegistry,
    content: RegistryContent,
    changed: ReadonlyMap<string, RegistryRecord['values']>,
  ) {
    this.#lens = lens
    this.#content = content
    this.#index = new LookupIndex(createLookupKeys(lens))
    this.records = new Map(content.records)
    const baseOf = new Map(
      entities.flatMap(({ entity, members }) => members.map((member) => [buildMemberKey(member), entity] as const)),
    )
    const confirmed = new Set(content.decisions.flatMap(({ left, right, is }) => (is === 'same' ? [left, right] : [])))
    for (const [key, values] of changed) {
      // A confirmed record stays in its entity, whatever its new values are.
      const found = confirmed.has(key) ? this.records.get(key)?.found : undefined
      this.records.set(key, { values, found })
    }
    for (const [key, { values, found }] of this.records) {
      const [node_id, record_id] = parseMemberKey(key)
      const uid = recordUid('', lens.lens, { node_id, record_id })
      const base = baseOf.get(key) ?? singletonClusterName(uid)
      const record = { uid, key, ref: { node_id, record_id }, values, base, runBase: found }
      this.#index.put(uid, values, found !== undefined)
      this.#byUid.set(uid, record)
      const members = this.#byBase.get(base)
      if (members) members.push(record)
      else this.#byBase.set(base, [record])
      if (changed.has(key)) this.#pending.push(record)
    }
  }

  async match(): Promise<ArrivalClustering> {
    const { learnt, decisions } = this.#content
    const { route, isOneSource, weights } = learnt
    const method = this.#lens.clustering ?? (route === 'links' ? 'one_to_one' : 'average_link')
    const rejectedPairs = new Set(
      decisions.flatMap(({ left, right, is }) => (is === 'different' ? [buildPairKey(left, right)] : [])),
    )
    const isApart = (left: JoinableRecord, right: JoinableRecord) =>
      rejectedPairs.has(buildPairKey((left as KeyedArrival).key, (right as KeyedArrival).key))
    const registered = {
      byUid: async (uids: readonly string[]) => uids.flatMap((uid) => this.#byUid.get(uid) ?? []),
      byBase: async (bases: readonly string[]) => bases.flatMap((base) => this.#byBase.get(base) ?? []),
    }
    const options = { lens: this.#lens, weights, method, isOneSource, index: this.#index }
    return await joinArrivals(rejectedPairs.size > 0 ? { ...options, isApart } : options, registered, this.#pending)
  }

  clustersOf({ clusters }: ArrivalClustering): string[][] {
    return clusters.map(({ members }) => members.map((member) => (member as KeyedArrival).key).sort())
  }
}

function buildPairKey(left: string, right: string): string {
  return JSON.stringify([left, right].sort())
}
