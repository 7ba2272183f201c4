// Documents in an OpenSearch cluster: an index per collection, every write conditional and told apart by a name of its own.
import { randomUUID } from 'node:crypto'
import type { AuditEvent } from '../../../daemon/kernel/audit/audit-chain.ts'
import { Refusal, refuse } from '../../../daemon/kernel/error/errors.ts'
import type {
  AnyCollection,
  Collection,
  Doc,
  DocumentPage,
  Filter,
  ListQuery,
  ReadOptions,
  Scalar,
  StoredFields,
  StoreWrite,
  UpdateStep,
  WriteOutcome,
} from '../../../daemon/kernel/store/store.ts'
import { changing, heldOf, replace, sendingOf } from './changing.ts'
import type { Cluster } from './cluster.ts'
import { clusterHealth } from './cluster-health.ts'
import type { ClusterStore, StoreOptions } from './cluster-store.ts'
import { clusterIdOf, docOf } from './envelope.ts'
import { asRefusal, reasonOf, unavailable } from './failure.ts'
import { bucketsOf, countOf, countsBy, listPage } from './listing.ts'
import { PageEdges } from './page-edges.ts'
import { inPortions } from './portion.ts'
import { queryOf } from './query.ts'
import { removeAll } from './removal.ts'
import { Documents } from './settling.ts'
import { Shelf } from './shelf.ts'
import { documentFaults } from './soundness.ts'
import type { SomeCollection, Table } from './table.ts'
import { bytes_of_update, bytesIn, usual_rooms } from './waiting-room.ts'
import { Writes } from './writes.ts'

/** `close` closes the cluster's connections, and leaves the database of the owed audit events to whoever opened it. */
export function opensearchStore(cluster: Cluster, options: StoreOptions): ClusterStore {
  return new OpenSearchStore(cluster, options)
}

type Events = readonly AuditEvent[] | undefined

class OpenSearchStore implements ClusterStore {
  readonly name = 'opensearch'
  readonly #cluster: Cluster
  readonly #options: StoreOptions
  readonly #documents: Documents
  readonly #writes: Writes
  readonly #shelf: Shelf
  readonly #edges = new PageEdges()
  #isClosed = false

  constructor(cluster: Cluster, options: StoreOptions) {
    this.#cluster = cluster
    this.#options = options
    this.#documents = new Documents(cluster)
    this.#writes = new Writes(this.#documents, options.owed, options.rooms ?? usual_rooms)
    this.#shelf = new Shelf(cluster, this.#documents, options)
  }

  get<T extends StoredFields>(from: Collection<T>, id: string): Promise<Doc<T> | undefined> {
    return this.#use(from, async ({ alias }) => {
      const held = await heldOf(this.#documents, alias, id)
      return held && docOf(held.envelope, from.schema)
    })
  }

  async create<T extends StoredFields>(
    into: Collection<T>,
    id: string,
    given: T,
    events?: Events,
  ): Promise<Doc<T> | 'exists'> {
    return await this.#create(into, { id, version: 1, value: into.schema.parse(given) }, events)
  }

  async put<T extends StoredFields>(into: Collection<T>, id: string, given: T, version: number, events?: Events) {
    const value = into.schema.parse(given)
    return await this.#inTurn(into, id, bytesIn(value), (table) =>
      changing(this.#documents, table, id, async (held) => {
        if (held.envelope.version !== version) return 'conflict'
        return await replace<T>(this.#writes, table, held, value, events)
      }),
    )
  }

  async update<T extends StoredFields, R>(
    into: Collection<T>,
    id: string,
    rule: (current: Doc<T>) => UpdateStep<T, R>,
  ) {
    return await this.#inTurn(into, id, bytes_of_update, (table) =>
      changing(this.#documents, table, id, async (held) => {
        const current = docOf(held.envelope, into.schema)
        const { next, answer, audit } = rule(current)
        if (next) {
          const doc = await replace<T>(this.#writes, table, held, into.schema.parse(next), audit)
          return doc && { doc, answer }
        }
        if (audit) await this.#options.owed.append(audit)
        return { doc: current, answer }
      }),
    )
  }

  async remove<T extends StoredFields>(from: Collection<T>, id: string, version?: number, events?: Events) {
    return await this.#inTurn(from, id, 0, (table) =>
      changing(this.#documents, table, id, async (held) => {
        if (version !== undefined && held.envelope.version !== version) return 'conflict'
        const { alias } = table
        const sending = { write: randomUUID(), alias, id: clusterIdOf(id), replaces: held.place }
        const outcome = await this.#writes.send(sending, events)
        return outcome === 'done' ? 'done' : undefined
      }),
    )
  }

  async bulk(writes: readonly StoreWrite[]): Promise<WriteOutcome[]> {
    const acts = writes.map((write) => this.#actOf(write))
    const outcomes = await Promise.all(acts.map((act) => act()))
    return outcomes.map((outcome) => (typeof outcome === 'string' ? outcome : 'done'))
  }

  async load<T extends StoredFields>(into: Collection<T>, docs: readonly Doc<T>[]): Promise<void> {
    const parsed = docs.map((doc) => ({ ...doc, value: into.schema.parse(doc.value) }))
    for (const some of inPortions(parsed, ({ value }) => bytesIn(value))) {
      const outcomes = await Promise.all(some.map((doc) => this.#create(into, doc)))
      if (outcomes.includes('exists')) throw refuse('already_exists', `a ${into.name} of this id is there already`)
    }
  }

  list<T extends StoredFields>(from: Collection<T>, query: ListQuery): Promise<DocumentPage<T>> {
    return this.#search(from, query, (table) => listPage(this.#cluster, table, from.schema, query, this.#edges))
  }

  count(from: AnyCollection, filter?: Filter, how?: ReadOptions): Promise<number> {
    return this.#search(from, how, (table) => countOf(this.#cluster, table, filter, how))
  }

  countBy(from: AnyCollection, field: string, filter?: Filter, how?: ReadOptions): Promise<Map<Scalar, number>> {
    return this.#search(from, how, (table) => countsBy(this.#cluster, table, field, filter, how))
  }

  histogram(from: AnyCollection, field: string, interval: number, filter?: Filter, how?: ReadOptions) {
    return this.#search(from, how, (table) => bucketsOf(this.#cluster, table, field, interval, filter))
  }

  removeWhere(from: AnyCollection, filter: Filter): Promise<number> {
    return this.#use(from, async (table) => {
      const query = queryOf(table, filter)
      // A write in doubt could bring a document back.
      for (const failure of (await this.#writes.settle(table.alias)).values()) throw failure
      return await removeAll(this.#cluster, table, query, this.#options.scroll)
    })
  }

  expire(from: AnyCollection, now_ms: number): Promise<number> {
    return this.removeWhere(from, { expires_ts: { lte: now_ms } })
  }

  async health() {
    if (this.#isClosed) return { ok: false, detail: 'closed' }
    return await clusterHealth(this.#cluster, this.#options.prefix, this.#options, this.#writes.unsettled)
  }

  async backup(): Promise<void> {
    throw new Refusal('invalid', 'documents in a cluster are copied by the cluster’s own snapshots')
  }

  async check(): Promise<string[]> {
    const lost = await this.lost()
    const faults = lost.map((alias) => `the index ${alias} is lost: restore it from a snapshot of the cluster`)
    const { prefix, collections } = this.#options
    for (const each of collections.filter(({ name }) => !lost.includes(`${prefix}${name}`))) {
      faults.push(...(await this.#search(each, { fresh: true }, (table) => documentFaults(this.#cluster, table, each))))
    }
    return faults
  }

  settle() {
    return this.#guarded(async () => {
      const failures = [...(await this.#writes.settle())]
      return new Map(failures.map(([alias, error]) => [alias.slice(this.#options.prefix.length), reasonOf(error)]))
    })
  }

  lost(): Promise<readonly string[]> {
    return this.#guarded(() => this.#shelf.lost())
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#documents.close()
    await this.#writes.idle()
    await this.#cluster.close()
  }

  async #guarded<T>(work: () => Promise<T>): Promise<T> {
    if (this.#isClosed) throw unavailable('closed')
    try {
      return await work()
    } catch (error) {
      throw asRefusal(error)
    }
  }

  #use<T>(of: SomeCollection, work: (table: Table) => Promise<T>): Promise<T> {
    return this.#guarded(() => this.#shelf.use(of, work))
  }

  #search<T>(of: SomeCollection, how: ReadOptions | undefined, work: (table: Table) => Promise<T>): Promise<T> {
    return this.#use(of, async (table) => {
      if (how?.fresh) await this.#shelf.refresh(table)
      return await work(table)
    })
  }

  /** In the order of the calls, whatever each has to wait for first. */
  #inTurn<T>(of: SomeCollection, id: string, bytes: number, work: (table: Table) => Promise<T>): Promise<T> {
    const alias = `${this.#options.prefix}${of.name}`
    return this.#guarded(() => this.#writes.inTurn(alias, clusterIdOf(id), bytes, () => this.#shelf.use(of, work)))
  }

  async #create<T extends StoredFields>(into: Collection<T>, doc: Doc<T>, events?: Events): Promise<Doc<T> | 'exists'> {
    if (doc.id === '' || !doc.id.isWellFormed())
      throw new Refusal('invalid', 'an id is well-formed text of one character or more')
    return await this.#inTurn(into, doc.id, bytesIn(doc.value), async (table) => {
      const sending = sendingOf(table, doc)
      if ((await this.#writes.send(sending, events)) === 'done') return doc
      // Whoever is told that it exists relies on it, and it may stem from a write whose answer was lost.
      await this.#documents.secure(sending.alias, sending.id)
      return 'exists'
    })
  }

  /** Values are held to their schemas before anything is written. */
  #actOf(write: StoreWrite): () => Promise<WriteOutcome | Doc<StoredFields>> {
    const { collection, id } = write
    if (write.do === 'remove') return () => this.remove(collection, id, write.version)
    const value = collection.schema.parse(write.value)
    if (write.do === 'create') return () => this.create(collection, id, value)
    return () => this.put(collection, id, value, write.version)
  }
}
