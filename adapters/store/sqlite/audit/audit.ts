// The audit chain in the file whose changes it records: a change and its record are in one transaction.
import type Database from 'better-sqlite3'
import {
  type AuditEvent,
  type AuditLog,
  type AuditQuery,
  type AuditRecord,
  auditEvent,
  type ChainFault,
  type ChainHead,
  hashRecord,
} from '../../../../daemon/kernel/audit/audit-chain.ts'
import { canonicalJson, sha256 } from '../../../../daemon/kernel/encoding/canonical-json.ts'
import type { DocumentTotal } from '../../../../daemon/kernel/store/store.ts'
import type { SqliteFile } from '../sqlite-file.ts'
import {
  countRecords,
  createAuditIndexTables,
  dropExpiredBodies,
  findRecords,
  indexRecords,
  max_unindexed_records,
  parseInstant,
  readIndexedSeq,
} from './audit-index.ts'
import { type AuditHead, createAuditTables, filterColumns, readAuditHead, toAuditRecord } from './audit-table.ts'
import { type AuditProgressListener, findChainFault } from './audit-verify.ts'

/** Bodies dropped in one transaction. */
const expiry_batch_size = 500

/** The chain of one writer (`role@node`) on an open file, as a log and as a part of other writes to that file. */
export type SqliteAudit = AuditLog & {
  /**
   * For use inside a write job, before the job's own first write: an event that is not of its schema throws, and
   * nothing has been written then.
   */
  appendInside(db: Database.Database, events: readonly AuditEvent[]): void
  /** `verify`, telling how far it has come. */
  verify(progress?: AuditProgressListener): Promise<ChainFault | undefined>
}

/** @throws when the file holds another writer's chain. */
export function sqliteAudit(file: SqliteFile, writer: string): SqliteAudit {
  return new AuditChain(file, writer)
}

class AuditChain implements SqliteAudit {
  readonly #file: SqliteFile
  readonly #writer: string
  readonly #insert: Database.Statement<unknown[]>
  readonly #setHead: Database.Statement<unknown[]>
  readonly #addLabel: Database.Statement<[string]>
  /** Cached head and labels of the chain; forgotten when a transaction fails, since it runs ahead of the commit. */
  #head: AuditHead | undefined
  #labels: Set<string> | undefined
  #indexedSeq: number | undefined
  #isAhead = false

  constructor(file: SqliteFile, writer: string) {
    this.#file = file
    this.#writer = writer
    const { db } = file
    file.read(() => {
      createAuditTables(db)
      createAuditIndexTables(db)
    })
    this.#insert = db.prepare(
      `INSERT INTO audit (seq, prev, event_digest, hash, event, at, tenant_id, action, target, subject, label_key)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    )
    this.#setHead = db.prepare('INSERT OR REPLACE INTO audit_head (one, writer, seq, hash) VALUES (1, ?, ?, ?)')
    this.#addLabel = db.prepare('INSERT OR IGNORE INTO audit_label (key) VALUES (?)')
    file.read(() => this.#currentHead())
    file.onReset(() => this.#forget())
    file.beforeCommit(() => this.#writeHead())
  }

  append(events: readonly AuditEvent[]): Promise<void> {
    return this.#file.write((db) => this.appendInside(db, events))
  }

  appendInside(_db: Database.Database, events: readonly AuditEvent[]): void {
    const drafts = events.map((event) => {
      auditEvent.parse(event)
      const body = canonicalJson(event)
      return { body, digest: sha256(body), filed: filterColumns(event) }
    })
    for (const { body, digest, filed } of drafts) {
      const { seq, hash: prev } = this.#currentHead()
      const hash = hashRecord(this.#writer, seq + 1, prev, digest)
      const { at, tenant_id, action, target, subject, label_key } = filed
      this.#insert.run(seq + 1, prev, digest, hash, body, at, tenant_id, action, target, subject, label_key)
      if (label_key !== null) this.#noteLabel(label_key)
      this.#head = { seq: seq + 1, hash }
      this.#isAhead = true
    }
  }

  async count(query: AuditQuery): Promise<DocumentTotal> {
    return this.#file.read((db) => countRecords(db, query))
  }

  async list(query: AuditQuery): Promise<AuditRecord[]> {
    const rows = this.#file.read((db) => findRecords(db, query))
    return rows.map((row) => toAuditRecord(this.#writer, row))
  }

  async labelKeys(): Promise<string[]> {
    return [...this.#file.read(() => this.#knownLabels())].sort()
  }

  async head(): Promise<ChainHead> {
    return { writer: this.#writer, ...this.#file.read(() => this.#currentHead()) }
  }

  async verify(progress?: AuditProgressListener): Promise<ChainFault | undefined> {
    return findChainFault(this.#file, this.#writer, progress)
  }

  async expire(before: string): Promise<number> {
    const instant = parseInstant(before)
    // A record that is not filed yet cannot be found by its age.
    await this.#file.write((db) => this.#indexUpTo(db, this.#currentHead()))
    let total = 0
    for (;;) {
      const dropped = await this.#file.write((db) => dropExpiredBodies(db, instant, expiry_batch_size))
      total += dropped
      if (dropped < expiry_batch_size) return total
    }
  }

  #currentHead(): AuditHead {
    this.#head ??= readAuditHead(this.#file.db, this.#writer)
    return this.#head
  }

  /** Once for all records of a transaction. */
  #writeHead(): void {
    if (!this.#isAhead || !this.#head) return
    this.#setHead.run(this.#writer, this.#head.seq, this.#head.hash)
    this.#isAhead = false
    this.#indexedSeq ??= readIndexedSeq(this.#file.db)
    if (this.#head.seq - this.#indexedSeq >= max_unindexed_records) this.#indexUpTo(this.#file.db, this.#head)
  }

  #indexUpTo(db: Database.Database, { seq }: AuditHead): void {
    indexRecords(db, seq)
    this.#indexedSeq = seq
  }

  #noteLabel(key: string): void {
    const known = this.#knownLabels()
    if (known.has(key)) return
    this.#addLabel.run(key)
    known.add(key)
  }

  #knownLabels(): Set<string> {
    this.#labels ??= new Set(this.#file.db.prepare<[], string>('SELECT key FROM audit_label').pluck().all())
    return this.#labels
  }

  #forget(): void {
    this.#head = undefined
    this.#labels = undefined
    this.#indexedSeq = undefined
    this.#isAhead = false
  }
}
