// Rows of a table of PostgreSQL, by a cursor in a transaction that reads alone.
import type { DataSchema } from '../../../daemon/kernel/data/data-schema.ts'
import { choosePageRows, describeJsonRow, describeJsonValue } from '../../../daemon/shared/row-source/json-row.ts'
import type { RowCursor } from '../../../daemon/shared/row-source/row-cursor.ts'
import {
  max_value_bytes,
  type RowRequest,
  type RowSource,
  RowSourceError,
} from '../../../daemon/shared/row-source/row-source.ts'
import { chooseTableColumns } from '../../../daemon/shared/row-source/table-columns.ts'
import type { PostgresDriver } from './driver.ts'
import { findPostgresRange, type PostgresRange, postgresPlaces } from './postgres-cursor.ts'
import { type PostgresAccess, PostgresSession } from './postgres-session.ts'
import { findStatedType, findUsualType, formOf, normalizeText } from './postgres-types.ts'
import { listColumns, requireTable, type TableColumn } from './table-catalog.ts'

export function postgresSource(access: PostgresAccess, driver: PostgresDriver): RowSource {
  const session = new PostgresSession(access, driver)
  let stated: DataSchema = []
  let usual: DataSchema = []
  return {
    async probe(signal) {
      const [[version = ''] = []] = await session.query('SHOW server_version_num', [], signal)
      return `a PostgreSQL server of version ${Math.floor(Number(version) / 10_000)}`
    },
    async *rows(request, signal) {
      const { columns, range, isEmpty } = await beginReading(session, access.schema ?? 'public', request, signal)
      stated = columns.flatMap(({ name, type_oid }) => findStatedType(name, type_oid) ?? [])
      usual = columns.map(({ name, type_oid }) => findUsualType(name, type_oid))
      if (!isEmpty) yield* fetchRows(session, columns, request.cursor?.onRow, signal)
      if (range) request.cursor?.onEnd(range.end)
    },
    statedColumns: () => stated,
    usualColumns: () => usual,
    close: () => session.close(),
  }
}

/**
 * One moment of the whole database; nothing that the table runs, such as a function of a view, can write. The texts of
 * values do not depend on settings of the server.
 */
const beginStatements = [
  'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY',
  'SET LOCAL search_path = pg_catalog',
  "SET LOCAL DateStyle = 'ISO, YMD'",
  "SET LOCAL IntervalStyle = 'iso_8601'",
  "SET LOCAL TimeZone = 'UTC'",
  "SET LOCAL bytea_output = 'hex'",
  'SET LOCAL extra_float_digits = 3',
]

async function beginReading(
  session: PostgresSession,
  schema: string,
  request: RowRequest,
  signal: AbortSignal,
): Promise<Reading> {
  for (const statement of beginStatements) await session.query(statement, [], signal)
  const table = { schema, name: request.table }
  await requireTable(session, table, signal)
  const known = await listColumns(session, table, signal)
  const columns = chooseTableColumns(request, known)
  const range = await findRange(session, `${quoteName(schema)}.${quoteName(table.name)}`, request, known, signal)
  if (request.cursor && !range) return { columns, isEmpty: true }
  const select = buildSelect(table, columns, range)
  await session.query(`DECLARE rows NO SCROLL CURSOR FOR ${select}`, [], signal)
  return { columns, isEmpty: false, ...(range && { range }) }
}

/** `range`: of a reading by a cursor column. */
type Reading = { readonly columns: readonly TableColumn[]; readonly isEmpty: boolean; readonly range?: PostgresRange }

async function findRange(
  session: PostgresSession,
  table: string,
  { table: name, cursor }: RowRequest,
  known: readonly TableColumn[],
  signal: AbortSignal,
): Promise<PostgresRange | undefined> {
  if (!cursor) return undefined
  const [column] = chooseTableColumns({ table: name, columns: [cursor.column] }, known)
  return column && (await findPostgresRange(session, table, column, quoteName(cursor.column), cursor, signal))
}

async function* fetchRows(
  session: PostgresSession,
  columns: readonly TableColumn[],
  onRow: RowCursor['onRow'] | undefined,
  signal: AbortSignal,
): AsyncGenerator<readonly string[]> {
  const names = columns.map(({ name }) => name)
  let last: { readonly rows: number; readonly characters: number } | undefined
  for (;;) {
    const values = await session.query(`FETCH FORWARD ${choosePageRows(last)} FROM rows`, [], signal)
    if (values.length === 0) break
    const block = values.map((row) => describeRow(names, columns, row))
    for (const row of values) onRow?.(postgresPlaces[Number(row[columns.length + 1])] ?? 'between')
    last = { rows: block.length, characters: block.reduce((sum, line) => sum + line.length, 0) }
    yield block
  }
  await session.query('COMMIT', [], signal)
}

function describeRow(
  names: readonly string[],
  columns: readonly TableColumn[],
  values: readonly (string | null)[],
): string {
  if (values.length !== columns.length + 2)
    throw new RowSourceError('the server does not answer as a PostgreSQL server does')
  if (values[columns.length] !== 'f')
    throw new RowSourceError(`a row has a value of more than ${max_value_bytes} bytes`)
  const described = columns.map(({ type_oid }, at) => {
    const value = values[at] ?? null
    return describeJsonValue(formOf(type_oid), value === null ? null : normalizeText(type_oid, value))
  })
  return describeJsonRow(names, described)
}

/** After the values a column says whether one is too large, which is then not sent. The last one is the place of the row. */
function buildSelect(
  { schema, name }: { schema: string; name: string },
  columns: readonly TableColumn[],
  range: PostgresRange | undefined,
): string {
  const values = columns.map((column) => {
    const quoted = quoteName(column.name)
    const size = sizeOf(column)
    return size ? `CASE WHEN ${size} > ${max_value_bytes} THEN NULL ELSE ${quoted} END` : quoted
  })
  const isLarge = columns.flatMap((column) => {
    const size = sizeOf(column)
    return size ? [`COALESCE(${size} > ${max_value_bytes}, false)`] : []
  })
  const large = isLarge.length === 0 ? 'false' : isLarge.join(' OR ')
  const from = `FROM ${quoteName(schema)}.${quoteName(name)}${range ? ` WHERE ${range.where}` : ''}`
  return `SELECT ${[...values, large, range?.place ?? '0'].join(', ')} ${from}`
}

/** The length of a text or of bytes is known without their content. */
function sizeOf({ name, has_plain_size, is_bounded }: TableColumn): string | undefined {
  if (is_bounded) return undefined
  return has_plain_size ? `octet_length(${quoteName(name)})` : `octet_length(${quoteName(name)}::text)`
}

const quoteName = (name: string) => `"${name.replaceAll('"', '""')}"`
