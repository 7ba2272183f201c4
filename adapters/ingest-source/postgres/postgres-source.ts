// Rows of a table of PostgreSQL, by a cursor in a transaction that reads alone.
import type { DataSchema } from '../../../daemon/kernel/data/data-schema.ts'
import { describeJsonValue } from '../../../daemon/shared/row-source/json-row.ts'
import type { RowCursor } from '../../../daemon/shared/row-source/row-cursor.ts'
import { max_value_bytes, type RowRequest, type RowSource } from '../../../daemon/shared/row-source/row-source.ts'
import type { SqlRange } from '../../../daemon/shared/row-source/sql-range.ts'
import { blocksOfPages, rowDescriber, type SqlColumn } from '../../../daemon/shared/row-source/sql-rows.ts'
import { chooseCursorColumn, chooseTableColumns } from '../../../daemon/shared/row-source/table-columns.ts'
import type { PostgresDriver } from './driver.ts'
import { findPostgresRange } from './postgres-cursor.ts'
import { notPostgres } from './postgres-guard.ts'
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
  const column = chooseCursorColumn(request, known)
  const quoted = `${quoteName(schema)}.${quoteName(table.name)}`
  const range =
    request.cursor &&
    column &&
    (await findPostgresRange(session, quoted, column, quoteName(column.name), request.cursor, signal))
  if (request.cursor && !range) return { columns, isEmpty: true }
  const select = buildSelect(quoted, columns, range)
  await session.query(`DECLARE rows NO SCROLL CURSOR FOR ${select}`, [], signal)
  return { columns, isEmpty: false, ...(range && { range }) }
}

/** `range`: of a reading by a cursor column. */
type Reading = { readonly columns: readonly TableColumn[]; readonly isEmpty: boolean; readonly range?: SqlRange }

async function* fetchRows(
  session: PostgresSession,
  columns: readonly TableColumn[],
  onRow: RowCursor['onRow'] | undefined,
  signal: AbortSignal,
): AsyncGenerator<readonly string[]> {
  const fetch = async (rows: number) => await session.query(`FETCH FORWARD ${rows} FROM rows`, [], signal)
  yield* blocksOfPages(fetch, rowDescriber(columns.map(columnOf), onRow, notPostgres), notPostgres)
  await session.query('COMMIT', [], signal)
}

function columnOf({ name, type_oid }: TableColumn): SqlColumn<string | null> {
  const form = formOf(type_oid)
  return {
    name,
    describe: (value) => describeJsonValue(form, value === null ? null : normalizeText(type_oid, value)),
  }
}

/** After the values a column says whether one is too large, which is then not sent. The last one is the place of the row. */
function buildSelect(table: string, columns: readonly TableColumn[], range: SqlRange | undefined): string {
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
  const where = range ? ` WHERE ${range.where}` : ''
  return `SELECT ${[...values, `(${large})::int`, range?.place ?? '0'].join(', ')} FROM ${table}${where}`
}

/** The length of a text or of bytes is known without their content. */
function sizeOf({ name, has_plain_size, is_bounded }: TableColumn): string | undefined {
  if (is_bounded) return undefined
  return has_plain_size ? `octet_length(${quoteName(name)})` : `octet_length(${quoteName(name)}::text)`
}

const quoteName = (name: string) => `"${name.replaceAll('"', '""')}"`
