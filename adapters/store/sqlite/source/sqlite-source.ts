// Rows of a SQLite file that a stranger made: plain tables only, read without any expression of the file.
import { setImmediate } from 'node:timers/promises'
import Database from 'better-sqlite3'
import {
  max_row_characters,
  max_value_bytes,
  nameSome,
  type RowRequest,
  type RowSource,
  RowSourceError,
} from '../../../../daemon/shared/row-source/row-source.ts'
import { chooseTableColumns } from '../../../../daemon/shared/row-source/table-columns.ts'
import { loadSqliteAddon } from '../addon.ts'
import { findSqliteRange, type SqliteRange, sqlitePlaces } from './sqlite-cursor.ts'

export type SqliteSourceFile = {
  /** A private copy: nobody writes to it, and it has no journal of another program. */
  readonly file: string
  readonly addonDir: string
  /** In a thread of the executable: the native code; see `readPackedAddon`. */
  readonly packedAddon?: Uint8Array | undefined
}

const block_rows = 256
const block_characters = 4_194_304
/** A function of SQLite has fewer parameters than a statement has results. */
const group_columns = 50

/** Throws `RowSourceError` for a file that is not a database. */
export function sqliteSource(source: SqliteSourceFile): RowSource {
  const db = convertErrors(() => openCopy(source))
  let names: readonly string[] = []
  return {
    async probe() {
      return `a SQLite database of ${convertErrors(() => listTables(db)).length} tables`
    },
    async *rows(request, signal) {
      signal.throwIfAborted()
      names = convertErrors(() => chooseColumns(db, request))
      yield* readRows(db, request, names, signal)
    },
    usualColumns: () => names.map((name) => ({ name, type: 'text' })),
    async close() {
      db.close()
    },
  }
}

function openCopy({ file, addonDir, packedAddon }: SqliteSourceFile): Database.Database {
  const db = new Database(file, { nativeBinding: loadSqliteAddon(addonDir, packedAddon), fileMustExist: true })
  try {
    // The copy is ours, so that SQLite may make what it needs beside it; the reading itself changes nothing.
    db.pragma('query_only = ON')
    db.pragma('trusted_schema = OFF')
    db.pragma('cell_size_check = ON')
    db.pragma('mmap_size = 0')
    db.pragma('cache_size = -8192')
    db.defaultSafeIntegers(true)
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

/** Without views and virtual tables: they run expressions and modules that the file chooses. */
function listTables(db: Database.Database): string[] {
  return db
    .prepare<[], string>(
      "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name",
    )
    .pluck()
    .all()
}

/** Stored columns: a generated one is an expression of the file. */
function listColumns(db: Database.Database, table: string): string[] {
  return db
    .prepare<[string], string>('SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 0 ORDER BY cid')
    .pluck()
    .all(table)
}

async function* readRows(
  db: Database.Database,
  { table, cursor }: RowRequest,
  columns: readonly string[],
  signal: AbortSignal,
): AsyncGenerator<readonly string[]> {
  const quoted = `main.${quoteName(table)}`
  const range = cursor && convertErrors(() => findSqliteRange(db, quoted, quoteName(cursor.column), cursor))
  if (cursor && !range) return
  const select = buildSelect(quoted, columns, range)
  const rows = convertErrors(() =>
    db
      .prepare(select)
      .raw()
      .iterate(...(range?.parameters ?? [])),
  ) as IterableIterator<unknown[]>
  try {
    let block: string[] = []
    let characters = 0
    for (;;) {
      const { value, done } = convertErrors(() => rows.next())
      if (done) break
      const line = describeRow(columns, value)
      cursor?.onRow(sqlitePlaces[Number(value[columns.length + 1])] ?? 'between')
      block.push(line)
      characters += line.length
      if (block.length < block_rows && characters < block_characters) continue
      yield block
      block = []
      characters = 0
      await setImmediate()
      signal.throwIfAborted()
    }
    if (range) cursor?.onEnd(range.end)
    yield block
  } finally {
    rows.return?.()
  }
}

function chooseColumns(db: Database.Database, { table, columns, cursor }: RowRequest): readonly string[] {
  const tables = listTables(db)
  if (!tables.includes(table))
    throw new RowSourceError(`the database has no table ${JSON.stringify(table)}: it has ${nameSome(tables)}`)
  const known = listColumns(db, table).map((name) => ({ name }))
  if (cursor) chooseTableColumns({ table, columns: [cursor.column] }, known)
  return chooseTableColumns({ table, columns }, known).map(({ name }) => name)
}

/**
 * After the values a column says whether one is too large, which is then not read; `octet_length` reads the length alone. The last one is
 * the place of the row.
 */
function buildSelect(table: string, columns: readonly string[], range: SqliteRange | undefined): string {
  const names = columns.map(quoteName)
  const values = names.map((name) => `CASE WHEN octet_length(${name}) > ${max_value_bytes} THEN NULL ELSE ${name} END`)
  const isLarge = names.map((name) => `ifnull(octet_length(${name}) > ${max_value_bytes}, 0)`)
  const groups = Array.from({ length: Math.ceil(names.length / group_columns) }, (_, at) => {
    return `max(0, ${isLarge.slice(at * group_columns, (at + 1) * group_columns).join(', ')})`
  })
  const place = range ? `, ${range.place}` : ''
  const where = range ? ` WHERE ${range.where}` : ''
  return `SELECT ${values.join(', ')}, max(0, ${groups.join(', ')})${place} FROM ${table} NOT INDEXED${where}`
}

const quoteName = (name: string) => `"${name.replaceAll('"', '""')}"`

function describeRow(columns: readonly string[], values: readonly unknown[]): string {
  if (values[columns.length] !== 0n) throw new RowSourceError(`a row has a value of more than ${max_value_bytes} bytes`)
  const fields = columns.map((name, at) => `${JSON.stringify(name)}:${describeValue(values[at])}`)
  const line = `{${fields.join(',')}}`
  if (line.length > max_row_characters) throw new RowSourceError(`a row has more than ${max_row_characters} characters`)
  return line
}

/** Integers have all their digits; bytes are base64. Text of a hostile file may be no Unicode. */
function describeValue(value: unknown): string {
  if (value === null || value === undefined) return 'null'
  if (typeof value === 'bigint') return value.toString()
  if (typeof value === 'number') return Number.isFinite(value) ? JSON.stringify(value) : JSON.stringify(String(value))
  if (value instanceof Uint8Array) return JSON.stringify(Buffer.from(value).toString('base64'))
  return JSON.stringify(String(value).toWellFormed())
}

/** Messages of SQLite may quote the file: their code is enough. */
function convertErrors<T>(action: () => T): T {
  try {
    return action()
  } catch (error) {
    const { code } = error as { code?: unknown }
    if (typeof code !== 'string' || !code.startsWith('SQLITE')) throw error
    throw new RowSourceError(`the file cannot be read as a SQLite database (${code})`)
  }
}
