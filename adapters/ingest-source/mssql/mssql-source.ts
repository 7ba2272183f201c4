// Rows of a table of SQL Server, as the server sends them, in a transaction that changes nothing.
import {
  max_value_bytes,
  nameSome,
  type RowSource,
  RowSourceError,
} from '../../../daemon/shared/row-source/row-source.ts'
import type { SqlRange } from '../../../daemon/shared/row-source/sql-range.ts'
import { blocksOfRows, rowDescriber, type SqlColumn } from '../../../daemon/shared/row-source/sql-rows.ts'
import { chooseCursorColumn, chooseTableColumns } from '../../../daemon/shared/row-source/table-columns.ts'
import type { MssqlDriver } from './driver.ts'
import { findMssqlRange, quoteText } from './mssql-cursor.ts'
import { notMssql } from './mssql-errors.ts'
import { type MssqlAccess, type MssqlRow, MssqlSession } from './mssql-session.ts'
import { describeValue, findReading, findStatedType, findUsualType, isLarge, type MssqlColumn } from './mssql-types.ts'

export function mssqlSource(access: MssqlAccess, driver: MssqlDriver): RowSource {
  const session = new MssqlSession(access, driver)
  const schema = access.schema ?? 'dbo'
  let chosen: readonly MssqlColumn[] = []
  return {
    async probe(signal) {
      const [row] = await session.query("SELECT CONVERT(nvarchar(128), SERVERPROPERTY('ProductVersion'))", signal)
      const [number] = /^\d{1,3}\.\d{1,3}/.exec(String(row?.[0])) ?? []
      if (number === undefined) throw notMssql()
      return `a server of SQL Server ${number}`
    },
    async *rows(request, signal) {
      await session.query('SET NOCOUNT ON; SET LOCK_TIMEOUT 10000; SET DEADLOCK_PRIORITY LOW', signal)
      const known = await listColumns(session, schema, request.table, signal)
      chosen = chooseTableColumns(request, known)
      const columns = chosen.map(columnOf)
      await beginReading(session, signal)
      const table = `${quoteName(schema)}.${quoteName(request.table)}`
      const column = chooseCursorColumn(request, known)
      const range =
        request.cursor &&
        column &&
        (await findMssqlRange(session, table, quoteName(column.name), column, request.cursor, signal))
      if (request.cursor && !range) return
      const rows = session.stream(buildSelect(table, chosen, range), signal)
      yield* blocksOfRows(rows, rowDescriber(columns, request.cursor?.onRow, notMssql))
      if (range) request.cursor?.onEnd(range.end)
      await session.query('COMMIT TRANSACTION', signal)
    },
    statedColumns: () => chosen.flatMap((column) => findStatedType(column) ?? []),
    usualColumns: () => chosen.map(findUsualType),
    close: () => session.close(),
  }
}

/** One moment of the whole database where that permits it; else each statement reads what is committed. */
async function beginReading(session: MssqlSession, signal: AbortSignal): Promise<void> {
  const [state] = await session.query(
    'SELECT CONVERT(int, snapshot_isolation_state) FROM sys.databases WHERE database_id = DB_ID()',
    signal,
  )
  const level = state?.[0] === 1 ? 'SNAPSHOT' : 'READ COMMITTED'
  await session.query(`SET TRANSACTION ISOLATION LEVEL ${level}; BEGIN TRANSACTION`, signal)
}

async function listColumns(
  session: MssqlSession,
  schema: string,
  table: string,
  signal: AbortSignal,
): Promise<readonly MssqlColumn[]> {
  const ofSchema = `FROM sys.objects o JOIN sys.schemas s ON s.schema_id = o.schema_id
    WHERE s.name = ${quoteText(schema)} AND o.type IN ('U', 'V')`
  // Types of the user have that of the system on which they are; those in code (240) have their own name.
  const type = 'TYPE_NAME(CASE c.system_type_id WHEN 240 THEN c.user_type_id ELSE c.system_type_id END)'
  const rows = await session.query(
    `SELECT c.name, ${type}, CONVERT(int, c.max_length) FROM sys.columns c
    WHERE c.object_id = (SELECT o.object_id ${ofSchema} AND o.name = ${quoteText(table)}) ORDER BY c.column_id`,
    signal,
  )
  if (rows.length > 0) return rows.map(readColumn)
  const tables = await session.query(`SELECT TOP 20 o.name ${ofSchema} ORDER BY o.name`, signal)
  const names = nameSome(tables.map(([name]) => String(name)))
  throw new RowSourceError(`the schema has no table ${nameSome([table])}: it has ${names}`)
}

function readColumn([name, type_name, max_length]: MssqlRow): MssqlColumn {
  if (typeof name !== 'string' || typeof type_name !== 'string' || typeof max_length !== 'number') throw notMssql()
  return { name, type_name, max_length }
}

/** Throws `RowSourceError` for a type that is not read. */
function columnOf(column: MssqlColumn): SqlColumn<unknown> {
  const { form } = findReading(column)
  return { name: column.name, describe: (value) => describeValue(form, value) }
}

const quoteName = (name: string) => `[${name.replaceAll(']', ']]')}]`

/** After the values a column says whether one is too large, which is then not sent. The last one is the place of the row. */
function buildSelect(table: string, columns: readonly MssqlColumn[], range: SqlRange | undefined): string {
  const tests: string[] = []
  const values = columns.map((column) => {
    const { select, form } = findReading(column)
    const value = select(quoteName(column.name), column)
    if (!isLarge(column)) return value
    // A character has two bytes there.
    const test = `DATALENGTH(${value}) > ${form === 'text' ? 2 * max_value_bytes : max_value_bytes}`
    tests.push(test)
    return `CASE WHEN ${test} THEN NULL ELSE ${value} END`
  })
  const flag = tests.length === 0 ? '0' : `CASE WHEN ${tests.join(' OR ')} THEN 1 ELSE 0 END`
  const where = range ? ` WHERE ${range.where}` : ''
  return `SELECT ${[...values, flag, range?.place ?? '0'].join(', ')} FROM ${table}${where}`
}
