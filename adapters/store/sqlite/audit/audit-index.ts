// Files audit records by tenant, target and time, many at once: three index entries a record would cost more than the record.
import type Database from 'better-sqlite3'
import type { AuditQuery } from '../../../../daemon/kernel/audit/audit-chain.ts'
import { Refusal } from '../../../../daemon/kernel/error/errors.ts'
import type { DocumentTotal } from '../../../../daemon/kernel/store/store.ts'
import type { AuditRow } from './audit-table.ts'

/** Records that wait to be filed at most; lists read them one by one. Filing this many takes about 10 ms. */
export const max_unindexed_records = 2_048

/** `audit_filed_to` remembers up to which sequence records are filed. A record whose body has expired is not. */
export function createAuditIndexTables(db: Database.Database): void {
  db.exec(`
    CREATE TABLE IF NOT EXISTS audit_filed (seq INTEGER PRIMARY KEY, tenant_id TEXT, target TEXT, at REAL) STRICT;
    CREATE INDEX IF NOT EXISTS audit_filed_by_tenant ON audit_filed (tenant_id);
    CREATE INDEX IF NOT EXISTS audit_filed_by_target ON audit_filed (target);
    CREATE INDEX IF NOT EXISTS audit_filed_by_time ON audit_filed (at);
    CREATE TABLE IF NOT EXISTS audit_filed_to (one INTEGER PRIMARY KEY CHECK (one = 1), seq INTEGER NOT NULL) STRICT;`)
}

export function readIndexedSeq(db: Database.Database): number {
  return db.prepare<[], number>('SELECT seq FROM audit_filed_to').pluck().get() ?? 0
}

/** Files all records up to this one. */
export function indexRecords(db: Database.Database, to: number): void {
  db.prepare(
    `INSERT OR REPLACE INTO audit_filed SELECT seq, tenant_id, target, at FROM audit
     WHERE seq > ? AND seq <= ? AND event IS NOT NULL`,
  ).run(readIndexedSeq(db), to)
  db.prepare('INSERT OR REPLACE INTO audit_filed_to (one, seq) VALUES (1, ?)').run(to)
}

/** Records that are filed are found by index, the few after them one by one. Expired bodies match no filter. */
export function findRecords(db: Database.Database, query: AuditQuery): AuditRow[] {
  const { limit } = query
  const found: AuditRow[] = []
  for (const { sql, bind } of listClauses(db, query)) {
    if (found.length === limit) break
    found.push(...db.prepare<unknown[], AuditRow>(`SELECT audit.* ${sql}`).all(...bind, limit - found.length))
  }
  return found
}

/** Action and subject are in no index: they are judged for each record, and the rest bounds what is visited. */
export function countRecords(
  db: Database.Database,
  { limit, action, subject, after_seq: _position, ...range }: AuditQuery,
): DocumentTotal {
  const matches = { action, subject }
  let [total, visited] = [0, 0]
  for (const { sql, bind } of listClauses(db, { ...range, limit })) {
    const rows = db.prepare<unknown[], typeof matches>(`SELECT audit.action, audit.subject ${sql}`)
    for (const row of rows.iterate(...bind, limit + 1 - visited)) {
      visited += 1
      if (visited > limit) return { total, total_is: 'at_least' }
      if ((action ?? row.action) === row.action && (subject ?? row.subject) === row.subject) total += 1
    }
  }
  return { total, total_is: 'exact' }
}

function listClauses(db: Database.Database, query: AuditQuery): AuditClause[] {
  const filedTo = readIndexedSeq(db)
  const parts = [indexedClause(query, filedTo), buildClause('audit', query, 'audit', 'audit.seq > ?', filedTo)]
  return query.ascending ? parts : parts.reverse()
}

type AuditClause = { readonly sql: string; readonly bind: readonly (string | number)[] }

/** A query for nothing that records are filed by walks the records themselves. */
function indexedClause(query: AuditQuery, filedTo: number): AuditClause {
  const { tenant_id, target, since, until } = query
  if ([tenant_id, target, since, until].every((wanted) => wanted === undefined)) {
    return buildClause('audit', query, 'audit', 'audit.seq <= ?', filedTo)
  }
  const from = 'audit_filed AS filed CROSS JOIN audit ON audit.seq = filed.seq'
  return buildClause(from, query, 'filed', 'filed.seq <= ?', filedTo)
}

/** `by`: the table whose tenant, target, time and order count. */
function buildClause(
  from: string,
  query: AuditQuery,
  by: 'audit' | 'filed',
  bound: string,
  filedTo: number,
): AuditClause {
  const { ascending = false, after_seq, label_keys, since, until } = query
  const conditions = [bound]
  const bind: (string | number)[] = [filedTo]
  const need = (sql: string, ...values: (string | number)[]) => {
    conditions.push(sql)
    bind.push(...values)
  }
  for (const field of ['tenant_id', 'target'] as const) {
    if (query[field] !== undefined) need(`${by}.${field} = ?`, query[field])
  }
  for (const field of ['action', 'subject'] as const) {
    if (query[field] !== undefined) need(`audit.${field} = ?`, query[field])
  }
  if (since !== undefined) need(`${by}.at >= ?`, parseInstant(since))
  if (until !== undefined) need(`${by}.at < ?`, parseInstant(until))
  if (after_seq !== undefined) need(`${by}.seq ${ascending ? '>' : '<'} ?`, after_seq)
  if (label_keys) {
    const marks = label_keys.map(() => '?').join(', ')
    need(`(audit.label_key IS NULL OR audit.label_key IN (${marks}))`, ...label_keys)
  }
  const order = `ORDER BY ${by}.seq ${ascending ? 'ASC' : 'DESC'} LIMIT ?`
  return { sql: `FROM ${from} WHERE ${conditions.join(' AND ')} ${order}`, bind }
}

/** Epoch milliseconds of an RFC 3339 instant. */
export function parseInstant(text: string): number {
  const instant = Date.parse(text)
  if (Number.isNaN(instant)) throw new Refusal('malformed', 'an instant must have the form of RFC 3339')
  return instant
}

/** Drops the bodies, which describe the event, of at most `most` records before the instant. Returns their number. */
export function dropExpiredBodies(db: Database.Database, before: number, most: number): number {
  const seqs = db
    .prepare<[number, number], number>('SELECT seq FROM audit_filed WHERE at < ? ORDER BY at LIMIT ?')
    .pluck()
    .all(before, most)
  const drop = db.prepare(
    `UPDATE audit SET event = NULL, at = NULL, tenant_id = NULL, action = NULL, target = NULL, subject = NULL,
     label_key = NULL WHERE seq = ?`,
  )
  const unfile = db.prepare('DELETE FROM audit_filed WHERE seq = ?')
  for (const seq of seqs) {
    drop.run(seq)
    unfile.run(seq)
  }
  return seqs.length
}
