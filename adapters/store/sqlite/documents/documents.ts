// Applies one write to one document, inside the transaction that it shares with others.
import type Database from 'better-sqlite3'
import type * as z from 'zod'
import type { AuditEvent } from '../../../../daemon/kernel/audit/audit-chain.ts'
import { requireValidId } from '../../../../daemon/kernel/store/document-id.ts'
import type { Doc, StoredFields, UpdateStep } from '../../../../daemon/kernel/store/store.ts'
import type { SqliteAudit } from '../audit/audit.ts'
import { buildCells, changedCells } from './columns.ts'
import type { CachedDocument, DocumentCache } from './document-cache.ts'
import { toDocument } from './listing.ts'
import { parseChange } from './parse-change.ts'
import type { SqliteTable } from './table.ts'

/** Shared state of the writes of one file. `freeze` is for tests: it makes a change of a shared value an error. */
export type DocumentWriteContext = {
  readonly cache: DocumentCache
  readonly audit: SqliteAudit
  readonly freeze: boolean
}

type DocumentAuditEvents = readonly AuditEvent[] | undefined

/** The stored document, parsed once; undefined when there is none. */
export function loadDocument(
  context: DocumentWriteContext,
  table: SqliteTable,
  id: string,
): CachedDocument | undefined {
  const cached = context.cache.get(table.name, id)
  if (cached) return cached
  const row = table.select.get(id)
  if (!row) return undefined
  const doc = toDocument<StoredFields>(row)
  const held = { doc, cells: buildCells(doc.value, table.fields), size: row.body.length, isSound: false }
  return cacheDocument(context, table, held)
}

/** @throws Refusal('invalid') when the id cannot be stored as it is. */
export function createJob<T extends StoredFields>(
  context: DocumentWriteContext,
  table: SqliteTable,
  { id, version, value }: Doc<T>,
  events?: DocumentAuditEvents,
) {
  requireValidId(id)
  const body = JSON.stringify(value)
  const cells = buildCells(value, table.fields)
  return (db: Database.Database): Doc<T> | 'exists' => {
    if (loadDocument(context, table, id)) return 'exists'
    if (events) context.audit.appendInside(db, events)
    table.insert.run(id, version, body, ...cells)
    return cacheDocument(context, table, { doc: { id, version, value }, cells, size: body.length, isSound: true })
      .doc as Doc<T>
  }
}

/**
 * Inserts a document of a batch without reading or caching it.
 * @throws Refusal('invalid') when the id cannot be stored as it is.
 */
export function addJob<T extends StoredFields>(
  table: SqliteTable,
  { id, version, value }: Doc<T>,
): () => 'done' | 'exists' {
  requireValidId(id)
  const body = JSON.stringify(value)
  const cells = buildCells(value, table.fields)
  return () => (table.add.run(id, version, body, ...cells).changes === 0 ? 'exists' : 'done')
}

export function putJob<T extends StoredFields>(
  context: DocumentWriteContext,
  table: SqliteTable,
  { id, value, version }: Doc<T>,
  events?: DocumentAuditEvents,
): (db: Database.Database) => Doc<T> | 'conflict' | 'missing' {
  const body = JSON.stringify(value)
  return (db) => {
    const held = loadDocument(context, table, id)
    if (!held) return 'missing'
    if (held.doc.version !== version) return 'conflict'
    if (events) context.audit.appendInside(db, events)
    return replaceDocument(context, table, held, value, body)
  }
}

/**
 * The rule sees the current document, so that it never loses a race. All that can fail without the disk comes before
 * the first write: a rule that throws costs the other jobs of the transaction nothing.
 */
export function updateJob<T extends StoredFields, R>(
  context: DocumentWriteContext,
  table: SqliteTable,
  schema: z.ZodType<T>,
  { id, rule }: { id: string; rule: (current: Doc<T>) => UpdateStep<T, R> },
): (db: Database.Database) => { doc: Doc<T>; answer: R } | 'missing' {
  return (db) => {
    const held = loadDocument(context, table, id)
    if (!held) return 'missing'
    const { next, answer, audit } = rule(held.doc as Doc<T>)
    const value = next && (held.isSound ? parseChange(schema, held.doc.value as T, next) : schema.parse(next))
    const body = value && JSON.stringify(value)
    if (audit) context.audit.appendInside(db, audit)
    if (!value || !body) return { doc: held.doc as Doc<T>, answer }
    return { doc: replaceDocument(context, table, held, value, body), answer }
  }
}

export function removeJob(
  context: DocumentWriteContext,
  table: SqliteTable,
  id: string,
  version?: number,
  events?: DocumentAuditEvents,
) {
  return (db: Database.Database): 'done' | 'conflict' | 'missing' => {
    const held = loadDocument(context, table, id)
    if (!held) return 'missing'
    if (version !== undefined && held.doc.version !== version) return 'conflict'
    if (events) context.audit.appendInside(db, events)
    table.remove.run(id)
    context.cache.remove(table.name, id)
    return 'done'
  }
}

function replaceDocument<T extends StoredFields>(
  context: DocumentWriteContext,
  table: SqliteTable,
  held: CachedDocument,
  value: T,
  body: string,
): Doc<T> {
  const { id, version } = held.doc
  const cells = buildCells(value, table.fields)
  const changed = changedCells(held.cells, cells)
  table.updateStatement(changed.places).run(version + 1, body, ...changed.cells, id)
  const doc = { id, version: version + 1, value }
  return cacheDocument(context, table, { doc, cells, size: body.length, isSound: true }).doc as Doc<T>
}

function cacheDocument(context: DocumentWriteContext, table: SqliteTable, held: CachedDocument): CachedDocument {
  if (context.freeze) deepFreeze(held.doc)
  context.cache.set(table.name, held.doc.id, held)
  return held
}

function deepFreeze(value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return
  Object.freeze(value)
  for (const member of Object.values(value)) deepFreeze(member)
}
