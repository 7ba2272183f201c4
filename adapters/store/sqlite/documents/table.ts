// One collection's table: made on first use, extended when an index is declared later, with its statements kept.
import type Database from 'better-sqlite3'
import { requireCollectionName } from '../../../../daemon/kernel/store/collection-name.ts'
import type { AnyCollection, StoredFields } from '../../../../daemon/kernel/store/store.ts'
import { buildCells, fixedColumns, isFixedColumn } from './columns.ts'

export type DocumentRow = { id: string; version: number; body: string }

/**
 * Indexed fields are real columns, not columns generated from the body: SQLite rewrites the index entries of every
 * generated column whenever the body changes, which makes an update with five indexes 10 microseconds slower.
 * The check of the store compares them with the bodies.
 */
export type SqliteTable = {
  readonly name: string
  /** Every field that has a column, declared now or by an earlier release. */
  readonly fields: readonly string[]
  /** Columns for filters and orders: the fixed ones and those of the fields. */
  readonly indexed: ReadonlySet<string>
  /** Declared orders with their indexes, those of the most fields first. */
  readonly orders: readonly { readonly index: string; readonly fields: readonly string[] }[]
  /** SQL names of the indexed columns, in the order of `buildCells`. */
  readonly columns: readonly string[]
  readonly select: Database.Statement<[string], DocumentRow>
  readonly insert: Database.Statement<unknown[]>
  /** As `insert`, and without an effect where the id is taken. */
  readonly add: Database.Statement<unknown[]>
  readonly remove: Database.Statement<[string]>
  /** The statement that writes version, body, and the columns of these places; bound in that order, then the id. */
  updateStatement(changed: readonly number[]): Database.Statement<unknown[]>
  /** A statement by its text; kept while the table is. */
  prepare(sql: string): Database.Statement<unknown[]>
}

const fieldPattern = /^[A-Za-z][A-Za-z0-9_]*$/

/** @throws when a name cannot be a table's or a column's. */
export function openTable(db: Database.Database, of: AnyCollection): SqliteTable {
  const name = tableName(of.name)
  db.transaction(() => {
    createTable(db, name)
    addFields(db, name, of)
    for (const order of of.orders ?? []) addOrder(db, name, order)
  }).immediate()
  return prepareTable(db, name, of.orders ?? [])
}

/** The table of a collection. A name has no two separators in a row, so that two underscores stand for a hyphen. */
export function tableName(collection: string): string {
  return `doc_${requireCollectionName(collection).replaceAll('-', '__')}`
}

/** Names of the collections that have a table. */
export function storedCollections(db: Database.Database): string[] {
  const tables = db.prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB 'doc_*'")
  const names = tables.pluck().all()
  return names.map((name) => name.slice('doc_'.length).replaceAll('__', '-')).sort()
}

function createTable(db: Database.Database, name: string): void {
  db.exec(`CREATE TABLE IF NOT EXISTS ${name} (
    id TEXT PRIMARY KEY NOT NULL, version INTEGER NOT NULL,
    tenant_id TEXT NOT NULL, label_key TEXT NOT NULL, expires_ts ANY, body TEXT NOT NULL) STRICT`)
  db.exec(`CREATE INDEX IF NOT EXISTS ${name}_by_id ON ${name} (tenant_id, id)`)
  db.exec(`CREATE INDEX IF NOT EXISTS ${name}_by_label ON ${name} (tenant_id, label_key, id)`)
  db.exec(`CREATE INDEX IF NOT EXISTS ${name}_by_expiry ON ${name} (expires_ts, id) WHERE expires_ts IS NOT NULL`)
}

/** A field that begins an order is found by the index of that. */
function addFields(db: Database.Database, name: string, { indexes: declared, orders = [] }: AnyCollection): void {
  const held = listFields(db, name)
  const fixed: readonly string[] = fixedColumns
  const added = declared.filter((field) => !held.includes(field) && !fixed.includes(field))
  for (const field of added) {
    if (!fieldPattern.test(field)) throw new Error(`an index cannot be named ${field}`)
    db.exec(`ALTER TABLE ${name} ADD COLUMN f_${field} ANY`)
  }
  if (added.length > 0) fillFields(db, name, added)
  const alone = declared.filter((field) => !fixed.includes(field) && !orders.some(([first]) => first === field))
  for (const field of alone) defineIndex(db, `${name}_by_f_${field}`, `${name} (tenant_id, f_${field}, id, label_key)`)
}

/** Without it a list of one value in the order of another field would read and sort all that have the value. */
function addOrder(db: Database.Database, name: string, fields: readonly string[]): void {
  const columns = fields.map((field) => (isFixedColumn(field) ? field : `f_${field}`)).join(', ')
  const label = fields.includes('label_key') ? '' : ', label_key'
  defineIndex(db, orderIndexName(name, fields), `${name} (tenant_id, ${columns}, id${label})`)
}

/**
 * Creates an index, or again one of an earlier release that is defined otherwise. Labels are in every index of a field:
 * documents that a viewer may not see are passed over without reading them.
 */
function defineIndex(db: Database.Database, index: string, columns: string): void {
  const sql = `CREATE INDEX ${index} ON ${columns}`
  const defined = db.prepare<[string], string>("SELECT sql FROM sqlite_schema WHERE type = 'index' AND name = ?")
  if (defined.pluck().get(index) === sql) return
  db.exec(`DROP INDEX IF EXISTS ${index}; ${sql}`)
}

function orderIndexName(name: string, fields: readonly string[]): string {
  return `${name}_in_${fields.join('_and_')}`
}

/** Gives documents that were there before the index its values. */
function fillFields(db: Database.Database, name: string, added: readonly string[]): void {
  const places = added.map((field) => `f_${field} = ?`).join(', ')
  const update = db.prepare(`UPDATE ${name} SET ${places} WHERE rowid = ?`)
  const next = db.prepare<[number], { at: number; body: string }>(
    `SELECT rowid AS at, body FROM ${name} WHERE rowid > ? ORDER BY rowid LIMIT 200`,
  )
  let rows = next.all(-1)
  while (rows.length > 0) {
    for (const row of rows) {
      const cells = buildCells(JSON.parse(row.body) as StoredFields, added).slice(fixedColumns.length)
      update.run(...cells, row.at)
    }
    rows = next.all(rows.at(-1)?.at ?? 0)
  }
}

function listFields(db: Database.Database, name: string): string[] {
  const columns = db.prepare<[string], string>('SELECT name FROM pragma_table_info(?)').pluck().all(name)
  return columns.filter((column) => column.startsWith('f_')).map((column) => column.slice(2))
}

function prepareTable(db: Database.Database, name: string, orders: readonly (readonly string[])[]): SqliteTable {
  const fields = listFields(db, name)
  const columns = [...fixedColumns, ...fields.map((field) => `f_${field}`)]
  const statements = new Map<string, Database.Statement<unknown[]>>()
  const prepared = (sql: string) => {
    const known = statements.get(sql)
    if (known) return known
    if (statements.size > 500) statements.clear()
    const made = db.prepare(sql)
    statements.set(sql, made)
    return made
  }
  const marks = columns.map(() => '?').join(', ')
  const insert = `INSERT INTO ${name} (id, version, body, ${columns.join(', ')}) VALUES (?, ?, ?, ${marks})`
  const update = db.prepare(`UPDATE ${name} SET version = ?, body = ? WHERE id = ?`)
  return {
    name,
    fields,
    indexed: new Set([...fixedColumns, ...fields]),
    orders: orders
      .toSorted((one, other) => other.length - one.length)
      .map((each) => ({ index: orderIndexName(name, each), fields: each })),
    columns,
    prepare: prepared,
    select: db.prepare(`SELECT id, version, body FROM ${name} WHERE id = ?`),
    insert: db.prepare(insert),
    add: db.prepare(`${insert} ON CONFLICT (id) DO NOTHING`),
    remove: db.prepare(`DELETE FROM ${name} WHERE id = ?`),
    updateStatement(changed) {
      if (changed.length === 0) return update
      const sets = changed.map((place) => `, ${columns[place]} = ?`).join('')
      return prepared(`UPDATE ${name} SET version = ?, body = ?${sets} WHERE id = ?`)
    },
  }
}
