// The audit chain's rows: how they are written and read back.

import type Database from 'better-sqlite3'
import { type AuditEvent, type AuditRecord, genesis_hash } from '../../../../daemon/kernel/audit/audit-chain.ts'
import { auditFilterFields } from '../../../../daemon/kernel/audit/audit-filter-fields.ts'

/** Beside the event's canonical JSON stand the parts that lists filter by; `verify` holds them to the event. */
export type AuditRow = {
  seq: number
  prev: string
  event_digest: string
  hash: string
  event: string | null
  at: number | null
  tenant_id: string | null
  action: string | null
  target: string | null
  subject: string | null
  label_key: string | null
}

export type AuditHead = { readonly seq: number; readonly hash: string }

/**
 * `audit_head` remembers how far the chain goes, so that records cut off its end are missed; the checkpoints that are
 * signed elsewhere cover a change of both. `audit_label` keeps the distinct label keys.
 */
export function createAuditTables(db: Database.Database): void {
  db.exec(`
    CREATE TABLE IF NOT EXISTS audit (
      seq INTEGER PRIMARY KEY, prev TEXT NOT NULL, event_digest TEXT NOT NULL, hash TEXT NOT NULL, event TEXT,
      at REAL, tenant_id TEXT, action TEXT, target TEXT, subject TEXT, label_key TEXT) STRICT;
    CREATE TABLE IF NOT EXISTS audit_head (one INTEGER PRIMARY KEY CHECK (one = 1), writer TEXT NOT NULL,
      seq INTEGER NOT NULL, hash TEXT NOT NULL) STRICT;
    CREATE TABLE IF NOT EXISTS audit_label (key TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;`)
}

/** @throws when the file holds another writer's chain: a chain never changes hands. */
export function readAuditHead(db: Database.Database, writer: string): AuditHead {
  const head = db.prepare<[], AuditHead & { writer: string }>('SELECT writer, seq, hash FROM audit_head').get()
  if (head && head.writer !== writer) throw new Error(`the audit chain in this file is written by ${head.writer}`)
  return head ? { seq: head.seq, hash: head.hash } : { seq: 0, hash: genesis_hash }
}

/** The parts of an event that lists filter by. */
export function filterColumns(event: AuditEvent) {
  const { label_key = null, ...fields } = auditFilterFields(event)
  return { ...fields, label_key }
}

/** @throws SyntaxError when the stored event is not JSON. */
export function toAuditRecord(writer: string, row: AuditRow): AuditRecord {
  const { seq, prev, event_digest, hash } = row
  const sealed = { writer, seq, prev, event_digest, hash }
  return row.event === null ? sealed : { ...sealed, event: JSON.parse(row.event) as AuditEvent }
}
