// Matches records of files with what a registry keeps, without a run: each joins its entity or is a new one.
import { join } from 'node:path'
import { clustersOf } from '../../roles/resolution/engine/findings.ts'
import { isSame, LookupIndex } from '../../roles/resolution/engine/lookup/keyed-records.ts'
import { lookupKeys } from '../../roles/resolution/engine/lookup/keys.ts'
import type { Tell } from '../../roles/resolution/engine/progress.ts'
import { recordUid } from '../../roles/resolution/entity-record/model.ts'
import type { Lens } from '../../roles/resolution/lens/model.ts'
import { aloneIn, arriving, type Joined } from '../../roles/resolution/registry/arriving.ts'
import type { Arriving } from '../../roles/resolution/registry/scores.ts'
import type { DataKind, ResultKind } from '../resolution/read-records.ts'
import { named, type Registry, readRegistry, replaceRegistry } from './entity-registry.ts'
import { claimFolder } from './new-files.ts'
import { Objection } from './objection.ts'
import { type KeptRecord, keyOf, memberOf, type RegistryContent, seenBy } from './registry-content.ts'
import { pairColumns } from './resolution-tables.ts'
import { type ResultTable, writeTable, writeWhole } from './result-file.ts'
import { recordsIn } from './seen-records.ts'

export type Matching = {
  readonly lens: Lens
  readonly registry: string
  readonly files: readonly string[]
  /** The source that the records are of; the name of their file unless said. */
  readonly source?: string | undefined
  /** A folder that is new or empty; without it nothing but the registry is written. */
  readonly out?: string | undefined
  readonly dataKind?: DataKind | undefined
  readonly format?: ResultKind | undefined
}

export type Placed = {
  readonly source: string
  readonly id: string
  readonly outcome: 'new' | 'replaced' | 'unchanged'
  readonly entity: string
  readonly size: number
}

/** More come as a run. */
const most_records = 20_000

/**
 * The registry is replaced last and as a whole; the same records again change nothing. Throws `Objection`: 1 for data that cannot be used, 3 for a
 * registry that keeps no records, or was made by another lens.
 */
export async function matchFiles(wanted: Matching, tell: Tell): Promise<Placed[]> {
  const { lens, out, format = 'csv' } = wanted
  if (out !== undefined) claimFolder(out)
  const registry = readRegistry(wanted.registry, lens.lens)
  const content = contentFor(registry, wanted)
  const given = await givenRecords(wanted, tell)
  const outcomes = new Map([...given].map(([key, values]) => [key, outcomeOf(content.records.get(key), values)]))
  const changed = new Map([...given].filter(([key]) => outcomes.get(key) !== 'unchanged'))
  tell({ phase: 'compare', done: 0, total: changed.size })
  const held = new Held(lens, registry, content, changed)
  const joined = await held.joined()
  const { ids, registry: next } = named(registry, held.clustersOf(joined))
  const entityOf = new Map(
    next.entities.flatMap((each) => each.members.map((member) => [keyOf(member), each] as const)),
  )
  const placed = [...given.keys()].map((key): Placed => {
    const [source, id] = memberOf(key)
    const { entity = '', members = [] } = entityOf.get(key) ?? {}
    return { source, id, outcome: outcomes.get(key) ?? 'new', entity, size: members.length }
  })
  if (ids.length > 0) tell({ phase: 'write', done: 0, total: 0 })
  if (out !== undefined)
    for (const table of [placedTable(placed), pairTable(joined)]) await writeTable(out, table, format)
  if (changed.size > 0) replaceRegistry(wanted.registry, { ...next, content: { ...content, records: held.records } })
  if (out !== undefined) {
    const summary = { lens: lens.lens, version: lens.version, records: given.size, changed: changed.size }
    writeWhole(join(out, 'match.json'), (write) => write(Buffer.from(`${JSON.stringify(summary, undefined, 2)}\n`)))
  }
  return placed
}

function contentFor({ content, bytes }: Registry, { lens, registry }: Matching): RegistryContent {
  if (!bytes) throw new Objection(1, `there is no ${registry}`)
  if (!content) {
    throw new Objection(3, `${registry} keeps no records`, '`platform resolve run --keep-records` has it keep them')
  }
  if (content.learnt.lens === seenBy(lens)) return content
  throw new Objection(3, `${registry} was made by another lens than this`, 'run once more with this one')
}

/** By key, what each says in normal form. */
async function givenRecords(
  { lens, files, dataKind, source }: Matching,
  tell: Tell,
): Promise<ReadonlyMap<string, KeptRecord['values']>> {
  const records = await recordsIn(lens, files, tell, dataKind)
  if (records.rows > most_records) {
    throw new Objection(3, `there are ${records.rows} records, and ${most_records} at most are matched`, 'start a run')
  }
  if (source !== undefined && files.length > 1) throw new Objection(2, 'the records of several files are of one source')
  const { found } = clustersOf(
    records,
    Int32Array.from({ length: records.rows }, (_, row) => row),
  )
  const given = [...found].flat().map(({ ref: { node_id, record_id }, values }) => {
    return [keyOf([source ?? node_id, record_id]), values] as const
  })
  return new Map(given)
}

function outcomeOf(known: KeptRecord | undefined, values: KeptRecord['values']): Placed['outcome'] {
  if (!known) return 'new'
  return isSame(known.values, values) ? 'unchanged' : 'replaced'
}

type Keyed = Arriving & { readonly key: string }

/** The registry in memory, with what came. */
class Held {
  readonly records: Map<string, KeptRecord>
  readonly #lens: Lens
  readonly #content: RegistryContent
  readonly #byUid = new Map<string, Keyed>()
  readonly #byBase = new Map<string, Keyed[]>()
  readonly #waiting: Keyed[] = []
  readonly #index: LookupIndex

  constructor(
    lens: Lens,
    { entities }: Registry,
    content: RegistryContent,
    changed: ReadonlyMap<string, KeptRecord['values']>,
  ) {
    this.#lens = lens
    this.#content = content
    this.#index = new LookupIndex(lookupKeys(lens))
    this.records = new Map(content.records)
    const baseOf = new Map(entities.flatMap(({ entity, members }) => members.map((of) => [keyOf(of), entity] as const)))
    const confirmed = new Set(content.decisions.flatMap(({ left, right, is }) => (is === 'same' ? [left, right] : [])))
    for (const [key, values] of changed) {
      // What people confirmed stays where it is, whatever it says now.
      const found = confirmed.has(key) ? this.records.get(key)?.found : undefined
      this.records.set(key, { values, found })
    }
    for (const [key, { values, found }] of this.records) {
      const [node_id, record_id] = memberOf(key)
      const uid = recordUid('', lens.lens, { node_id, record_id })
      const base = baseOf.get(key) ?? aloneIn(uid)
      const record = { uid, key, ref: { node_id, record_id }, values, base, found }
      this.#index.put(uid, values, found !== undefined)
      this.#byUid.set(uid, record)
      const members = this.#byBase.get(base)
      if (members) members.push(record)
      else this.#byBase.set(base, [record])
      if (changed.has(key)) this.#waiting.push(record)
    }
  }

  async joined(): Promise<Joined> {
    const { learnt, decisions } = this.#content
    const { route, isOneSource, weights } = learnt
    const method = this.#lens.clustering ?? (route === 'links' ? 'one_to_one' : 'average_link')
    const apart = new Set(decisions.flatMap(({ left, right, is }) => (is === 'different' ? [pairOf(left, right)] : [])))
    const isApart = (one: Arriving, other: Arriving) => apart.has(pairOf((one as Keyed).key, (other as Keyed).key))
    const registered = {
      byUid: async (uids: readonly string[]) => uids.flatMap((uid) => this.#byUid.get(uid) ?? []),
      byBase: async (bases: readonly string[]) => bases.flatMap((base) => this.#byBase.get(base) ?? []),
    }
    const of = { lens: this.#lens, weights, method, isOneSource, index: this.#index }
    return await arriving(apart.size > 0 ? { ...of, isApart } : of, registered, this.#waiting)
  }

  clustersOf({ clusters }: Joined): string[][] {
    return clusters.map(({ members }) => members.map((member) => (member as Keyed).key).sort())
  }
}

function pairOf(left: string, right: string): string {
  return JSON.stringify([left, right].sort())
}

function placedTable(placed: readonly Placed[]): ResultTable {
  return {
    name: 'matched',
    columns: [
      { name: 'source', type: 'text' },
      { name: 'id', type: 'text' },
      { name: 'outcome', type: 'text' },
      { name: 'entity', type: 'text' },
      { name: 'size', type: 'whole' },
    ],
    rows: placed.map(({ source, id, outcome, entity, size }) => [source, id, outcome, entity, size]),
  }
}

/** As a run writes them. */
function pairTable({ pairs, clusters }: Joined): ResultTable {
  const clusterOf = new Map(clusters.flatMap(({ base, members }) => members.map(({ uid }) => [uid, base] as const)))
  return {
    name: 'pairs',
    columns: pairColumns,
    rows: pairs
      .map(({ one, other, compared }) => {
        const [left, right] = (one as Keyed).key < (other as Keyed).key ? [one, other] : [other, one]
        const isLinked = clusterOf.get(one.uid) === clusterOf.get(other.uid)
        const ends = [left, right].flatMap(({ ref }) => [ref.node_id, ref.record_id])
        return [...ends, Number(compared.score.toFixed(4)), isLinked]
      })
      .sort((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1)),
  }
}
