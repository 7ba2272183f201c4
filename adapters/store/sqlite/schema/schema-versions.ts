// Records the version of the documents of each collection in the role's database, and migrates documents of earlier releases.
import type Database from 'better-sqlite3'
import type * as z from 'zod'
import {
  applyMigrations,
  type DocumentMigration,
  first_version,
  pendingMigrations,
  type RecordedVersion,
  versionOf,
} from '../../../../daemon/kernel/store/schema-version.ts'
import type { AnyCollection, StoredFields } from '../../../../daemon/kernel/store/store.ts'
import { buildCells } from '../documents/columns.ts'
import { toDocument } from '../documents/listing.ts'
import { type DocumentRow, openTable, type SqliteTable, tableName } from '../documents/table.ts'
import type { SqliteFile } from '../sqlite-file.ts'

export type MigratedCollection = AnyCollection & { readonly schema?: z.ZodType<StoredFields> }

/** The documents of one collection that were brought to another version. */
export type CollectionUpgrade = {
  readonly collection: string
  readonly from: number
  readonly to: number
  readonly documents: number
}

const table_sql = `CREATE TABLE IF NOT EXISTS schema_version (
  collection TEXT PRIMARY KEY, version INTEGER NOT NULL, release TEXT NOT NULL) STRICT, WITHOUT ROWID`

/** Empty for a database that releases before 1.1.0 wrote. */
export function readSchemaVersions(file: SqliteFile): RecordedVersion[] {
  return file.read((db) => {
    if (!hasTable(db, 'schema_version')) return []
    return db.prepare<[], RecordedVersion>('SELECT collection, version, release FROM schema_version').all()
  })
}

/** Records the versions of this release without a change of documents: for those that are in a cluster. */
export async function recordSchemaVersions(
  file: SqliteFile,
  collections: readonly AnyCollection[],
  release: string,
): Promise<void> {
  await file.write((db) => {
    db.exec(table_sql)
    for (const each of collections) recordVersion(db, each, release)
  })
}

/**
 * Brings the documents of every collection to the version of this release, each collection in one transaction: a process
 * that dies changes nothing of it, and the next start begins again. The caller holds the lock of the role. Throws the error
 * of the first document that cannot be migrated, named without its content.
 */
export async function migrateDocuments(
  file: SqliteFile,
  collections: readonly MigratedCollection[],
  release: string,
): Promise<CollectionUpgrade[]> {
  file.read((db) => db.exec(table_sql))
  const upgrades: CollectionUpgrade[] = []
  for (const collection of collections) {
    const upgrade = file.read((db) => db.transaction(() => migrateCollection(db, collection, release)).immediate())
    if (upgrade) upgrades.push(upgrade)
  }
  return upgrades
}

function migrateCollection(
  db: Database.Database,
  collection: MigratedCollection,
  release: string,
): CollectionUpgrade | undefined {
  const from = readVersion(db, collection)
  const to = versionOf(collection)
  if (from >= to) {
    recordVersion(db, collection, release)
    return undefined
  }
  const table = openTable(db, collection)
  const documents = changeDocuments(db, table, collection, pendingMigrations(collection, from))
  recordVersion(db, collection, release)
  return { collection: collection.name, from, to, documents }
}

/** Documents without a record are of the first version; a collection without documents has the version of this release. */
function readVersion(db: Database.Database, collection: AnyCollection): number {
  const select = db.prepare<[string], number>('SELECT version FROM schema_version WHERE collection = ?')
  const recorded = select.pluck().get(collection.name)
  if (recorded !== undefined) return recorded
  const table = tableName(collection.name)
  const isEmpty = !hasTable(db, table) || db.prepare(`SELECT 1 FROM ${table} LIMIT 1`).get() === undefined
  return isEmpty ? versionOf(collection) : first_version
}

function changeDocuments(
  db: Database.Database,
  table: SqliteTable,
  { name, schema }: MigratedCollection,
  steps: readonly DocumentMigration[],
): number {
  const next = db.prepare<[number], DocumentRow & { at: number }>(
    `SELECT rowid AS at, id, version, body FROM ${table.name} WHERE rowid > ? ORDER BY rowid LIMIT 200`,
  )
  const places = [...table.columns.keys()]
  let documents = 0
  for (let rows = next.all(-1); rows.length > 0; rows = next.all(rows.at(-1)?.at ?? 0)) {
    for (const row of rows) {
      const { id, version, value } = toDocument<StoredFields>(row)
      const changed = applyMigrations(steps, value)
      const parsed = schema?.safeParse(changed)
      if (parsed?.success === false)
        throw new Error(`${name} ${JSON.stringify(id)} does not have the new form after its migration`)
      const kept = parsed?.data ?? changed
      table.updateStatement(places).run(version, JSON.stringify(kept), ...buildCells(kept, table.fields), id)
    }
    documents += rows.length
  }
  return documents
}

/** The release stays that of the first which wrote this version. */
function recordVersion(db: Database.Database, collection: AnyCollection, release: string): void {
  const version = versionOf(collection)
  db.prepare(
    `INSERT INTO schema_version (collection, version, release) VALUES (?, ?, ?)
     ON CONFLICT (collection) DO UPDATE SET version = excluded.version, release = excluded.release
     WHERE version < excluded.version`,
  ).run(collection.name, version, release)
}

function hasTable(db: Database.Database, name: string): boolean {
  return db.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?").get(name) !== undefined
}
