// Documents in an OpenSearch cluster: an index per collection, every write conditional and under a name of its own.
import { randomUUID } from 'node:crypto'
import type { AuditEvent } from '../../../daemon/kernel/audit/audit-chain.ts'
import { Refusal, refuse } from '../../../daemon/kernel/error/errors.ts'
import { requireValidId } from '../../../daemon/kernel/store/document-id.ts'
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
import type { OpensearchCluster } from './cluster/cluster.ts'
import { describeFailures, storeUnavailable, toRefusal } from './cluster/cluster-failure.ts'
import { clusterHealth } from './cluster/cluster-health.ts'
import type { ClusterStore, OpensearchStoreOptions } from './cluster-store.ts'
import { clusterId, parseDocument } from './document-envelope.ts'
import { findDocumentFaults } from './document-faults.ts'
import { CollectionTables } from './indexes/collection-tables.ts'
import type { OpensearchTable, SchemaCollection } from './indexes/table.ts'
import { countByBucket, countByField, countDocuments, countUpTo } from './reads/counting.ts'
import { listPage } from './reads/listing.ts'
import { PageEdges } from './reads/page-edges.ts'
import { buildQuery } from './reads/query.ts'
import { buildWrite, changeDocument, readDocument, replaceDocument } from './writes/change-document.ts'
import { DocumentClient } from './writes/document-client.ts'
import { removeMatching } from './writes/remove-matching.ts'
import { splitIntoRequests } from './writes/request-size.ts'
import { scrubIndex } from './writes/scrub-index.ts'
import { estimateBytes, update_size_bytes } from './writes/write-backpressure.ts'
import { WriteQueue } from './writes/write-queue.ts'

/** `close` closes the cluster's connections, and leaves the database of the pending audit events open for its owner. */
export function opensearchStore(cluster: OpensearchCluster, options: OpensearchStoreOptions): ClusterStore {
  return new OpenSearchStore(cluster, options)
}

type WriteAuditEvents = readonly AuditEvent[] | undefined
type TableWork<T> = (table: OpensearchTable) => Promise<T>

class OpenSearchStore implements ClusterStore {
  readonly name = 'opensearch'
  readonly #cluster: OpensearchCluster
  readonly #options: OpensearchStoreOptions
  readonly #documents: DocumentClient
  readonly #writes: WriteQueue
  readonly #collectionTables: CollectionTables
  readonly #edges = new PageEdges()
  #isClosed = false

  constructor(cluster: OpensearchCluster, options: OpensearchStoreOptions) {
    this.#cluster = cluster
    this.#options = options
    this.#documents = new DocumentClient(cluster)
    this.#writes = new WriteQueue(this.#documents, options.pendingAudit, options.backlogLimits)
    this.#collectionTables = new CollectionTables(cluster, this.#documents, options)
  }

  get<T extends StoredFields>(from: Collection<T>, id: string): Promise<Doc<T> | undefined> {
    return this.#use(from, async ({ alias }) => {
      const held = await readDocument(this.#documents, alias, id)
      return held && parseDocument(held.envelope, from.schema)
    })
  }

  async create<T extends StoredFields>(into: Collection<T>, id: string, fields: T, events?: WriteAuditEvents) {
    return await this.#create(into, { id, version: 1, value: into.schema.parse(fields) }, events)
  }

  async put<T extends StoredFields>(
    into: Collection<T>,
    id: string,
    given: T,
    version: number,
    events?: WriteAuditEvents,
  ) {
    const value = into.schema.parse(given)
    return await this.#inTurn(into, id, estimateBytes(value), (table) =>
      changeDocument(this.#documents, table, id, async (held) => {
        if (held.envelope.version !== version) return 'conflict'
        return await replaceDocument<T>(this.#writes, table, held, value, events)
      }),
    )
  }

  async update<T extends StoredFields, R>(
    into: Collection<T>,
    id: string,
    rule: (current: Doc<T>) => UpdateStep<T, R>,
  ) {
    return await this.#inTurn(into, id, update_size_bytes, (table) =>
      changeDocument(this.#documents, table, id, async (held) => {
        const current = parseDocument(held.envelope, into.schema)
        const { next, answer, audit } = rule(current)
        const doc = next && (await replaceDocument<T>(this.#writes, table, held, into.schema.parse(next), audit))
        if (next) return doc && { doc, answer }
        if (audit) await this.#options.pendingAudit.append(audit)
        return { doc: current, answer }
      }),
    )
  }

  async remove<T extends StoredFields>(from: Collection<T>, id: string, version?: number, events?: WriteAuditEvents) {
    return await this.#inTurn(from, id, 0, (table) =>
      changeDocument(this.#documents, table, id, async (held) => {
        if (version !== undefined && held.envelope.version !== version) return 'conflict'
        const sending = { write: randomUUID(), alias: table.alias, id: clusterId(id), replaces: held.token }
        return (await this.#writes.send(sending, events)) === 'done' ? 'done' : undefined
      }),
    )
  }

  async bulk(writes: readonly StoreWrite[]): Promise<WriteOutcome[]> {
    const outcomes = await Promise.all(writes.map((write) => this.#planWrite(write)).map((act) => act()))
    return outcomes.map((outcome) => (typeof outcome === 'string' ? outcome : 'done'))
  }

  async load<T extends StoredFields>(into: Collection<T>, docs: readonly Doc<T>[]): Promise<void> {
    const parsed = docs.map((doc) => ({ ...doc, value: into.schema.parse(doc.value) }))
    for (const some of splitIntoRequests(parsed, ({ value }) => estimateBytes(value))) {
      const outcomes = await Promise.all(some.map((doc) => this.#create(into, doc)))
      if (outcomes.includes('exists')) throw refuse('already_exists', `a ${into.name} of this id is there already`)
    }
  }

  list<T extends StoredFields>(from: Collection<T>, query: ListQuery): Promise<DocumentPage<T>> {
    return this.#search(from, query, (table) => listPage(this.#cluster, table, from.schema, query, this.#edges))
  }

  count(from: AnyCollection, filter?: Filter, how?: ReadOptions): Promise<number> {
    return this.#search(from, how, (table) => countDocuments(this.#cluster, table, filter, how))
  }

  countUpTo(from: AnyCollection, most: number, filter?: Filter, how?: ReadOptions) {
    return this.#search(from, how, (table) => countUpTo(this.#cluster, table, most, filter, how))
  }

  countBy(from: AnyCollection, field: string, filter?: Filter, how?: ReadOptions): Promise<Map<Scalar, number>> {
    return this.#search(from, how, (table) => countByField(this.#cluster, table, field, filter, how))
  }

  histogram(from: AnyCollection, field: string, interval: number, filter?: Filter, how?: ReadOptions) {
    return this.#search(from, how, (table) => countByBucket(this.#cluster, table, field, interval, filter))
  }

  removeWhere(from: AnyCollection, filter: Filter): Promise<number> {
    return this.#use(from, async (table) => {
      // A write in doubt could bring a document back.
      for (const failure of (await this.#writes.resolveAll(table.alias)).values()) throw failure
      return await removeMatching(this.#cluster, table, buildQuery(table, filter), this.#options.scroll)
    })
  }

  expire(from: AnyCollection, now_ms: number): Promise<number> {
    return this.removeWhere(from, { expires_ts: { lte: now_ms } })
  }

  async scrub(of: readonly AnyCollection[]) {
    for (const each of of) await this.#use(each, ({ alias }) => scrubIndex(this.#cluster, alias))
    return 'zeroed' as const
  }

  async health() {
    if (this.#isClosed) return { ok: false, detail: 'closed' }
    return await clusterHealth(this.#cluster, this.#options.prefix, this.#options, this.#writes.unresolved)
  }

  async backup(): Promise<void> {
    throw new Refusal('invalid', 'documents in a cluster are backed up by snapshots of the cluster')
  }

  async check(): Promise<string[]> {
    const lost = await this.findLostIndexes()
    const faults = lost.map((alias) => `the index ${alias} is lost: restore it from a snapshot of the cluster`)
    for (const each of this.#options.collections.filter(({ name }) => !lost.includes(this.#options.prefix + name))) {
      const find = (table: OpensearchTable) => findDocumentFaults(this.#cluster, table, each)
      faults.push(...(await this.#search(each, { fresh: true }, find)))
    }
    return faults
  }

  resolveWrites() {
    return this.#guarded(async () => describeFailures(await this.#writes.resolveAll(), this.#options.prefix))
  }

  findLostIndexes(): Promise<readonly string[]> {
    return this.#guarded(() => this.#collectionTables.findLostIndexes())
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#documents.close()
    await this.#writes.idle()
    await this.#cluster.close()
  }

  async #guarded<T>(work: () => Promise<T>): Promise<T> {
    if (this.#isClosed) throw storeUnavailable('closed')
    try {
      return await work()
    } catch (error) {
      throw toRefusal(error)
    }
  }

  #use<T>(of: SchemaCollection, work: TableWork<T>): Promise<T> {
    return this.#guarded(() => this.#collectionTables.use(of, work))
  }

  #search<T>(of: SchemaCollection, how: ReadOptions | undefined, work: TableWork<T>): Promise<T> {
    return this.#use(of, async (table) => {
      if (how?.fresh) await this.#collectionTables.refresh(table)
      return await work(table)
    })
  }

  /** In the order of the calls, whatever each has to wait for first. */
  #inTurn<T>(of: SchemaCollection, id: string, bytes: number, work: TableWork<T>): Promise<T> {
    const use = () => this.#collectionTables.use(of, work)
    return this.#guarded(() => this.#writes.inTurn(this.#options.prefix + of.name, clusterId(id), bytes, use))
  }

  async #create<T extends StoredFields>(into: Collection<T>, doc: Doc<T>, events?: WriteAuditEvents) {
    requireValidId(doc.id)
    return await this.#inTurn<Doc<T> | 'exists'>(into, doc.id, estimateBytes(doc.value), async (table) => {
      const sending = buildWrite(table, doc)
      if ((await this.#writes.send(sending, events)) === 'done') return doc
      // A caller relies on the reported existence, and the document may stem from a write whose answer was lost.
      await this.#documents.makeDurable(sending.alias, sending.id)
      return 'exists'
    })
  }

  /** Values are held to their schemas before anything is written. */
  #planWrite(write: StoreWrite): () => Promise<WriteOutcome | Doc<StoredFields>> {
    const { collection, id } = write
    if (write.do === 'remove') return () => this.remove(collection, id, write.version)
    const value = collection.schema.parse(write.value)
    if (write.do === 'create') return () => this.create(collection, id, value)
    return () => this.put(collection, id, value, write.version)
  }
}
