// Documents in SQLite: one table per collection, the document as JSON, declared fields as indexed columns.
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
  ScrubOutcome,
  Store,
  StoredFields,
  StoreWrite,
  UpdateStep,
  WriteOutcome,
} from '../../../daemon/kernel/store/store.ts'
import type { SqliteAudit } from './audit/audit.ts'
import { countUpTo } from './documents/bounded-count.ts'
import { DocumentCache } from './documents/document-cache.ts'
import { type CollectionSchemas, findDocumentFaults } from './documents/document-faults.ts'
import {
  addJob,
  createJob,
  type DocumentWriteContext,
  loadDocument,
  putJob,
  removeJob,
  updateJob,
} from './documents/documents.ts'
import { buildWhere } from './documents/filter.ts'
import { countByBucket, countByField, countDocuments, listPage } from './documents/listing.ts'
import { buildScopedWhere } from './documents/read-scope.ts'
import { openTable, type SqliteTable, storedCollections } from './documents/table.ts'
import { LoopShare } from './loop-share.ts'
import { scrubFile } from './scrub-file.ts'
import type { SqliteFile } from './sqlite-file.ts'

export type SqliteStoreOptions = {
  /** The chain that audit events of writes go to, in the same transaction; of the same file. */
  readonly audit: SqliteAudit
  /** Collections whose tables are made now; `check` holds their documents to their schemas. */
  readonly collections?: readonly (AnyCollection & Partial<Pick<Collection, 'schema'>>)[]
  /** Freezes every value that is shared, so that a change to one throws. For tests: it costs time. */
  readonly freeze?: boolean
}

/** Documents removed in one transaction, so that other writers need not wait for all of them. */
const removal_batch_size = 500

/** A caller takes about as long to answer with such a page as its reading took: others run in between. */
const long_page_documents = 100

/**
 * The store on an open file; `close` closes the file. A value that fails its schema rejects with ZodError, and nothing
 * of the call is written. Values that are given out may be shared with later readers: nobody may change them.
 */
export function sqliteStore(file: SqliteFile, options: SqliteStoreOptions): Store {
  return new SqliteStore(file, options)
}

class SqliteStore implements Store {
  readonly name = 'sqlite'
  readonly #file: SqliteFile
  readonly #context: DocumentWriteContext
  readonly #share = new LoopShare()
  readonly #tables = new Map<string, SqliteTable>()
  readonly #schemas: CollectionSchemas = new Map()

  constructor(file: SqliteFile, { audit, collections = [], freeze = false }: SqliteStoreOptions) {
    this.#file = file
    this.#context = { cache: new DocumentCache(), audit, freeze }
    file.onReset(() => this.#context.cache.clear())
    for (const each of collections) this.#table(each)
  }

  async get<T extends StoredFields>(from: Collection<T>, id: string): Promise<Doc<T> | undefined> {
    const found = await this.#read(from, (table) => loadDocument(this.#context, table, id))
    return found?.doc as Doc<T> | undefined
  }

  async create<T extends StoredFields>(into: Collection<T>, id: string, value: T, audit?: readonly AuditEvent[]) {
    const doc = { id, version: 1, value: into.schema.parse(value) }
    return this.#file.write(createJob(this.#context, this.#table(into), doc, audit))
  }

  async put<T extends StoredFields>(
    into: Collection<T>,
    id: string,
    value: T,
    version: number,
    audit?: readonly AuditEvent[],
  ) {
    const doc = { id, version, value: into.schema.parse(value) }
    return this.#file.write(putJob(this.#context, this.#table(into), doc, audit))
  }

  async update<T extends StoredFields, R>(
    into: Collection<T>,
    id: string,
    rule: (current: Doc<T>) => UpdateStep<T, R>,
  ) {
    return this.#file.write(updateJob(this.#context, this.#table(into), into.schema, { id, rule }))
  }

  async remove<T extends StoredFields>(
    from: Collection<T>,
    id: string,
    version?: number,
    audit?: readonly AuditEvent[],
  ) {
    return this.#file.write(removeJob(this.#context, this.#table(from), id, version, audit))
  }

  async bulk(writes: readonly StoreWrite[]): Promise<WriteOutcome[]> {
    const jobs = writes.map((write) => this.#buildJob(write))
    const outcomes = await this.#file.write((db) => jobs.map((job) => job(db)))
    return outcomes.map((outcome) => (typeof outcome === 'string' ? outcome : 'done'))
  }

  async load<T extends StoredFields>(into: Collection<T>, docs: readonly Doc<T>[]) {
    const table = this.#table(into)
    const jobs = docs.map((doc) => addJob(table, { ...doc, value: into.schema.parse(doc.value) }))
    const outcomes = await this.#file.write(() => jobs.map((job) => job()))
    if (outcomes.includes('exists')) throw refuse('already_exists', `a ${into.name} of this id is there already`)
  }

  async list<T extends StoredFields>(from: Collection<T>, query: ListQuery): Promise<DocumentPage<T>> {
    const page = await this.#read(from, (table) => listPage<T>(from.name, table, query))
    if (page.docs.length >= long_page_documents) await this.#share.leave()
    return page
  }

  count(from: AnyCollection, filter?: Filter, how?: ReadOptions) {
    return this.#read(from, (table) => countDocuments(table, buildScopedWhere(table, filter, how?.read_scope)))
  }

  countUpTo(from: AnyCollection, most: number, filter?: Filter, how?: ReadOptions) {
    return this.#read(from, (table) => countUpTo(table, most, filter, how?.read_scope))
  }

  countBy(from: AnyCollection, field: string, filter?: Filter, how?: ReadOptions) {
    return this.#read(from, (table) => countByField(table, field, buildScopedWhere(table, filter, how?.read_scope)))
  }

  histogram(from: AnyCollection, field: string, interval: number, filter?: Filter) {
    return this.#read(from, (table) => countByBucket(table, field, interval, buildWhere(table, filter)))
  }

  async removeWhere(from: AnyCollection, filter: Filter) {
    const table = this.#table(from)
    const { sql, bind } = buildWhere(table, filter)
    const chosen = `SELECT rowid FROM ${table.name} WHERE ${sql} LIMIT ${removal_batch_size}`
    const remove = table.prepare(`DELETE FROM ${table.name} WHERE rowid IN (${chosen}) RETURNING id`)
    let total = 0
    for (;;) {
      const removed = await this.#file.write(() => {
        const rows = remove.all(...bind) as { id: string }[]
        for (const { id } of rows) this.#context.cache.remove(table.name, id)
        return rows.length
      })
      total += removed
      if (removed < removal_batch_size) return total
    }
  }

  async expire(from: AnyCollection, now_ms: number) {
    return this.removeWhere(from, { expires_ts: { lte: now_ms } })
  }

  /** The collections share the file. */
  async scrub(): Promise<ScrubOutcome> {
    return this.#file.read(scrubFile)
  }

  async health() {
    try {
      this.#file.read((db) => db.prepare('SELECT count(*) FROM sqlite_schema').get())
      return { ok: true, detail: 'sqlite' }
    } catch (error) {
      return { ok: false, detail: error instanceof Refusal ? error.message : 'the database cannot be read' }
    }
  }

  backup(to: string) {
    return this.#file.backup(to, 'whole')
  }

  async check() {
    const faults = this.#file.check()
    for (const name of this.#file.read(storedCollections)) {
      const table = this.#table({ name, indexes: [] })
      faults.push(...(await findDocumentFaults(this.#file, table, this.#schemas.get(name))))
    }
    const fault = await this.#context.audit.verify()
    return fault ? [...faults, `audit record ${fault.seq} of ${fault.writer} is ${fault.fault}`] : faults
  }

  close() {
    return this.#file.close()
  }

  /** Reads within the share of the event loop that reads have. */
  async #read<R>(of: AnyCollection, read: (table: SqliteTable) => R): Promise<R> {
    if (this.#share.isUsedUp()) await this.#share.wait()
    const table = this.#table(of)
    return this.#file.read(() => read(table))
  }

  /** Not to be called inside a write: a rollback would take the new table away again. */
  #table(of: AnyCollection & Partial<Pick<Collection, 'schema'>>): SqliteTable {
    if (of.schema) this.#schemas.set(of.name, of.schema)
    const known = this.#tables.get(of.name)
    if (known && of.indexes.every((field) => known.indexed.has(field))) return known
    const opened = this.#file.read((db) => openTable(db, of))
    // Cells that were kept lack the new columns.
    this.#context.cache.clear()
    this.#tables.set(of.name, opened)
    return opened
  }

  #buildJob(write: StoreWrite) {
    const table = this.#table(write.collection)
    const { id } = write
    if (write.do === 'remove') return removeJob(this.#context, table, id, write.version)
    const value = write.collection.schema.parse(write.value)
    if (write.do === 'create') return addJob(table, { id, version: 1, value })
    return putJob(this.#context, table, { id, version: write.version, value })
  }
}
