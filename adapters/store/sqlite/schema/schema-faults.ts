// Compares the schema of a database from elsewhere with what this program creates: anything else could act on its data.
import type Database from 'better-sqlite3'
import * as z from 'zod'
import { collection } from '../../../../daemon/kernel/store/store.ts'
import { sqliteAudit } from '../audit/audit.ts'
import { auditShippingPosition } from '../audit/audit-shipping-position.ts'
import { sqlitePendingAudit } from '../audit/pending-audit.ts'
import type { DatabaseLocation } from '../connection.ts'
import { documentsCluster } from '../documents/documents-cluster.ts'
import { recordDocumentsHome } from '../documents/documents-home.ts'
import { openTable } from '../documents/table.ts'
import { sqliteJournal } from '../journal/journal.ts'
import { sqliteScheduleRecord } from '../schedule/schedule-record.ts'
import { sqliteFile } from '../sqlite-file.ts'
import { recordSchemaVersions } from './schema-versions.ts'

type SchemaEntry = {
  readonly type: string
  readonly name: string
  readonly tbl_name: string
  readonly sql: string | null
}
type Column = {
  readonly name: string
  readonly type: string
  readonly dflt_value: string | null
  readonly hidden: number
}

/** The table of a collection, whose name stands for that of every collection. */
const sample = collection({ name: 'sample', schema: z.object({ tenant_id: z.string() }), indexes: [] })
const sampleTable = `doc_${sample.name}`

/**
 * Faults of the database at `file`, which is only read: triggers, views, tables, columns, conditions and indexes that
 * this program does not create. A database of an earlier release may lack some, and may have indexes that are gone.
 * `scratch`: a path for a database of this program's own, which is compared with; the caller removes its folder.
 */
export async function findSchemaFaults(location: DatabaseLocation, scratch: string): Promise<string[]> {
  const own = await createOwnDatabase({ ...location, file: scratch })
  const other = sqliteFile(location)
  try {
    return listEntries(other.db).flatMap((entry) => findEntryFault(entry, other.db, own.db) ?? [])
  } finally {
    await other.close()
    await own.close()
  }
}

async function createOwnDatabase(location: DatabaseLocation) {
  const file = sqliteFile(location)
  const audit = sqliteAudit(file, 'schema')
  sqlitePendingAudit(file, audit)
  auditShippingPosition(file)
  documentsCluster(file)
  await recordDocumentsHome(file, 'sqlite')
  await recordSchemaVersions(file, [], '')
  sqliteJournal(file, audit)
  sqliteScheduleRecord(file)
  openTable(file.db, sample)
  return file
}

function listEntries(db: Database.Database): SchemaEntry[] {
  return db.prepare<[], SchemaEntry>('SELECT type, name, tbl_name, sql FROM sqlite_schema').all()
}

function findEntryFault(entry: SchemaEntry, db: Database.Database, own: Database.Database): string | undefined {
  const { type, name, tbl_name, sql } = entry
  const known = findKnown(entry, own)
  if (type === 'index') {
    if (sql === null && name.startsWith('sqlite_autoindex_')) return undefined
    if (known && normalise(entry, sql) === normalise(known, known.sql)) return undefined
    return isPlainIndex(db, entry) ? undefined : `it has an index ${name} that this version does not create`
  }
  if (type !== 'table' || !known) return `it has a ${type} ${name} that this version does not create`
  const columns = findColumnFault(db, own, tbl_name, known.tbl_name)
  if (columns !== undefined) return `its table ${name} has ${columns}`
  return listConditions(sql) === listConditions(known.sql) ? undefined : `its table ${name} has other conditions`
}

/** The entry of this program's own database: of the same name, or of the sample for the table of a collection. */
function findKnown({ type, name, tbl_name }: SchemaEntry, own: Database.Database): SchemaEntry | undefined {
  const isCollection = /^doc_[a-z][a-z0-9_]*$/.test(tbl_name)
  const wanted = isCollection ? name.replace(tbl_name, sampleTable) : name
  return listEntries(own).find((entry) => entry.type === type && entry.name === wanted)
}

/** One text for the same definition of any table. */
function normalise({ tbl_name }: SchemaEntry, sql: string | null): string {
  return (sql ?? '').replaceAll(tbl_name, 'T').replaceAll(/\s+/g, ' ')
}

/** Whether an index only sorts plain columns, as those of earlier releases do: no expression, condition or uniqueness. */
function isPlainIndex(db: Database.Database, { name, tbl_name }: SchemaEntry): boolean {
  const list = db.prepare<[string], { name: string; unique: number; partial: number }>(
    'SELECT * FROM pragma_index_list(?)',
  )
  const index = list.all(tbl_name).find((each) => each.name === name)
  const columns = db.prepare<[string], number>('SELECT cid FROM pragma_index_xinfo(?) WHERE key = 1').pluck().all(name)
  return index?.unique === 0 && index.partial === 0 && columns.every((cid) => cid >= 0)
}

function findColumnFault(db: Database.Database, own: Database.Database, name: string, ownName: string) {
  const known = new Map(listColumns(own, ownName).map((column) => [column.name, column]))
  const unknown = listColumns(db, name).find((column) => {
    const isField = ownName === sampleTable && /^f_\w+$/.test(column.name) && column.type === 'ANY'
    const isKnown = isField || known.get(column.name)?.type === column.type
    return !isKnown || column.hidden !== 0 || !isPlainDefault(column.dflt_value)
  })
  return unknown && `a column ${unknown.name} that this version does not create`
}

function listColumns(db: Database.Database, table: string): Column[] {
  return db.prepare<[string], Column>('SELECT name, type, dflt_value, hidden FROM pragma_table_xinfo(?)').all(table)
}

function isPlainDefault(text: string | null): boolean {
  return text === null || /^-?\d+$/.test(text) || /^'[^']*'$/.test(text)
}

/** Parts of a definition that run or refuse something on a write. */
function listConditions(sql: string | null): string {
  const found = (sql ?? '').match(/\b(CHECK|GENERATED|REFERENCES|COLLATE|CONFLICT)\b\s*(\([^()]*\))?/gi) ?? []
  return found.map((text) => text.replaceAll(/\s+/g, ' ').toUpperCase()).join()
}
