// Runs each source of rows that is a file against each requirement; test/engines/<server> runs those that are servers.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import Database from 'better-sqlite3'
import { afterAll, describe, test } from 'vitest'
import { writeParquet } from '../../adapters/format/parquet/write-parquet.ts'
import type { ColumnType } from '../../daemon/kernel/data/data-schema.ts'
import type { OpenConnection } from '../../daemon/roles/ingest/parts.ts'
import { buildBlock, encodeBlocks } from '../support/data/encode-blocks.ts'
import { type GrowingTable, growingRequirements } from './growing-source.ts'
import { landingRequirements, type RowSourceVariant, rowRequirements } from './row-source.ts'
import { landedTypes, type PersonRow, people, personColumns } from './row-source-data.ts'

const data_folder = mkdtempSync(path.join(tmpdir(), 'source-of-rows-'))
const files = path.join(data_folder, 'acme')
mkdirSync(files)
afterAll(() => rmSync(data_folder, { recursive: true }))

const connectionOf = (conn_type: string, config: OpenConnection['config']): OpenConnection => ({
  ...{ tenant_id: 'acme', conn_type, config },
})
const settings = { data_folder, trusted_networks: [], addonDir: data_folder }
const hidden = [data_folder, 'acme']

const growing: GrowingTable = {
  clear() {
    const db = new Database(path.join(files, 'people.db'))
    db.exec(`DROP TABLE IF EXISTS growing;
      CREATE TABLE growing (id INTEGER, at TEXT, name TEXT COLLATE NOCASE, empty TEXT, share REAL DEFAULT 0.5)`)
    db.close()
  },
  insert(rows) {
    const db = new Database(path.join(files, 'people.db'))
    const insert = db.prepare('INSERT INTO growing (id, at, name) VALUES (?, ?, ?)')
    db.transaction(() => {
      for (const { id, at, name } of rows) insert.run(BigInt(id), at, name)
    })()
    db.close()
  },
  refused: [
    ['growing', 'empty', 'a row has no value in it'],
    ['growing', 'share', 'it has values of the type real'],
    ['growing', 'none', 'the table has no column "none"'],
    ['people', 'big', 'a row has no value in it'],
  ],
}

function sqliteVariant(): RowSourceVariant & { readonly table: string; readonly growing: GrowingTable } {
  const db = new Database(path.join(files, 'people.db'))
  db.exec('CREATE TABLE people (id INTEGER, name TEXT, big INTEGER, share REAL, born TEXT, seen TEXT)')
  db.exec('CREATE TABLE wide (text TEXT); CREATE TABLE huge (text TEXT)')
  const insert = db.prepare('INSERT INTO people VALUES (?, ?, ?, ?, ?, ?)')
  for (const row of people) insert.run(...valuesOf(row))
  for (let at = 0; at < 64; at++) db.prepare('INSERT INTO wide VALUES (?)').run('w'.repeat(900_000))
  db.prepare('INSERT INTO huge VALUES (?)').run('h'.repeat(1_048_577))
  db.close()
  writeFileSync(path.join(files, 'text.db'), 'id,name\n')
  return {
    ...{ connection: connectionOf('sqlite', { file: 'people.db' }), settings, table: 'people', hidden, growing },
    ...{ wide: 'wide', huge: { table: 'huge', refusal: 'a row has a value of more than 1048576 bytes' } },
    ...{ absentTable: { table: 'no "such' }, absentTableRefusal: 'the database has no table' },
    absentColumnRefusal: 'the table has no column',
    failing: {
      'no file': [connectionOf('sqlite', { file: 'none.db' }), 'does not exist'],
      'another kind': [connectionOf('sqlite', { file: 'text.db' }), 'SQLite database'],
    },
  }
}

const valuesOf = (row: PersonRow) =>
  personColumns.map((name) => (name === 'big' && row.big !== null ? BigInt(row.big) : row[name]))

function parquetVariant(): RowSourceVariant {
  const schema = personColumns.map((name) => ({ name, type: landedTypes[name] as ColumnType }))
  const texts = people.map((row) => personColumns.map((name) => (row[name] === null ? null : String(row[name]))))
  writeFileSync(
    path.join(files, 'people.parquet'),
    encodeBlocks(writeParquet, schema, [buildBlock(personColumns, texts)]),
  )
  writeFileSync(path.join(files, 'text.parquet'), 'id,name\n')
  return {
    ...{ connection: connectionOf('parquet', { path: 'people.parquet' }), settings, table: undefined, hidden },
    ...{ absentTable: connectionOf('parquet', { path: 'none.parquet' }), absentTableRefusal: 'does not exist' },
    failing: { 'another kind': [connectionOf('parquet', { path: 'text.parquet' }), 'Parquet'] },
  }
}

const sqlite = sqliteVariant()
const parquet = parquetVariant()

describe.each(Object.entries({ sqlite, parquet }))('%s', (_, variant) => {
  test.each(Object.entries(landingRequirements))('%s', (_title, keep) => keep(variant))
})

describe('sqlite, row by row', () => {
  test.each(Object.entries(rowRequirements))('%s', (_, keep) => keep(sqlite))
  test.each(Object.entries(growingRequirements))('%s', (_, keep) => keep(sqlite))
})
