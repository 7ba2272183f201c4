// One collection's table: made on first use, extended when an index is declared later, with its statements kept.
import type Database from 'better-sqlite3'
import type { AnyCollection, StoredFields } from '../../../daemon/kernel/store/store.ts'
import { cellsOf, fixedColumns, isFixed } from './columns.ts'

export type Row = { id: string; version: number; body: string }

/**
 * Indexed fields are real columns, not columns generated from the body: SQLite rewrites the index entries of every
 * generated column whenever the body changes, which makes an update with five indexes 10 microseconds slower.
 * `check` compares them with the bodies.
 */
export type Table = {
  readonly name: string
  /** Every field that has a column, declared now or by an earlier release. */
  readonly fields: readonly string[]
  /** What may be filtered and ordered by: the fixed columns and the fields. */
  readonly indexed: ReadonlySet<string>
  /** Declared orders with their indexes, those of the most fields first. */
  readonly orders: readonly { readonly index: string; readonly fields: readonly string[] }[]
  /** SQL names of the indexed columns, in the order of `cellsOf`. */
  readonly columns: readonly string[]
  readonly select: Database.Statement<[string], Row>
  readonly insert: Database.Statement<unknown[]>
  /** As `insert`, and without an effect where the id is taken. */
  readonly add: Database.Statement<unknown[]>
  readonly remove: Database.Statement<[string]>
  /** The statement that writes version, body, and the columns of these places; bound in that order, then the id. */
  updateOf(changed: readonly number[]): Database.Statement<unknown[]>
  /** A statement by its text; kept while the table is. */
  prepared(sql: string): Database.Statement<unknown[]>
}

const nameRule = /^[a-z][a-z0-9_]*$/
const fieldRule = /^[A-Za-z][A-Za-z0-9_]*$/

/** @throws when a name cannot be a table's or a column's. */
export function openTable(db: Database.Database, of: AnyCollection): Table {
  if (!nameRule.test(of.name)) throw new Error(`a collection cannot be named ${of.name}`)
  const name = `doc_${of.name}`
  db.transaction(() => {
    createTable(db, name)
    addFields(db, name, of)
    for (const order of of.orders ?? []) addOrder(db, name, order)
  }).immediate()
  return tableOf(db, name, of.orders ?? [])
}

/** Names of the collections that have a table. */
export function storedCollections(db: Database.Database): string[] {
  const tables = db.prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB 'doc_*'")
  const names = tables.pluck().all()
  return names.map((name) => name.slice('doc_'.length)).sort()
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
  const held = fieldsOf(db, name)
  const fixed: readonly string[] = fixedColumns
  const added = declared.filter((field) => !held.includes(field) && !fixed.includes(field))
  for (const field of added) {
    if (!fieldRule.test(field)) throw new Error(`an index cannot be named ${field}`)
    db.exec(`ALTER TABLE ${name} ADD COLUMN f_${field} ANY`)
  }
  if (added.length > 0) fill(db, name, added)
  const alone = added.filter((field) => !orders.some(([first]) => first === field))
  for (const field of alone) db.exec(`CREATE INDEX ${name}_by_f_${field} ON ${name} (tenant_id, f_${field}, id)`)
}

/** Without it a list of one value in the order of another field would read and sort all that have the value. */
function addOrder(db: Database.Database, name: string, fields: readonly string[]): void {
  const columns = fields.map((field) => (isFixed(field) ? field : `f_${field}`)).join(', ')
  db.exec(`CREATE INDEX IF NOT EXISTS ${indexOf(name, fields)} ON ${name} (tenant_id, ${columns}, id)`)
}

function indexOf(name: string, fields: readonly string[]): string {
  return `${name}_in_${fields.join('_and_')}`
}

/** Gives documents that were there before the index its values. */
function fill(db: Database.Database, name: string, added: readonly string[]): void {
  const places = added.map((field) => `f_${field} = ?`).join(', ')
  const update = db.prepare(`UPDATE ${name} SET ${places} WHERE rowid = ?`)
  const next = db.prepare<[number], { at: number; body: string }>(
    `SELECT rowid AS at, body FROM ${name} WHERE rowid > ? ORDER BY rowid LIMIT 200`,
  )
  let rows = next.all(-1)
  while (rows.length > 0) {
    for (const row of rows) {
      const cells = cellsOf(JSON.parse(row.body) as StoredFields, added).slice(fixedColumns.length)
      update.run(...cells, row.at)
    }
    rows = next.all(rows.at(-1)?.at ?? 0)
  }
}

function fieldsOf(db: Database.Database, name: string): string[] {
  const columns = db.prepare<[string], string>('SELECT name FROM pragma_table_info(?)').pluck().all(name)
  return columns.filter((column) => column.startsWith('f_')).map((column) => column.slice(2))
}

function tableOf(db: Database.Database, name: string, orders: readonly (readonly string[])[]): Table {
  const fields = fieldsOf(db, name)
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
      .map((each) => ({ index: indexOf(name, each), fields: each })),
    columns,
    prepared,
    select: db.prepare(`SELECT id, version, body FROM ${name} WHERE id = ?`),
    insert: db.prepare(insert),
    add: db.prepare(`${insert} ON CONFLICT (id) DO NOTHING`),
    remove: db.prepare(`DELETE FROM ${name} WHERE id = ?`),
    updateOf(changed) {
      if (changed.length === 0) return update
      const sets = changed.map((place) => `, ${columns[place]} = ?`).join('')
      return prepared(`UPDATE ${name} SET version = ?, body = ?${sets} WHERE id = ?`)
    },
  }
}
