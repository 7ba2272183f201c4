// The rows of a table of SQL Server at or above a value of one column: the server compares the values, texts by their code units.
import type { CursorType } from '../../../daemon/kernel/data/landed-dataset.ts'
import {
  type CursorValue,
  checkCursorType,
  checkCursorValue,
  type RowCursor,
  type RowPlace,
  refuseCursorType,
  refuseMissingValues,
} from '../../../daemon/shared/row-source/row-cursor.ts'
import { notMssql } from './mssql-errors.ts'
import type { MssqlSession } from './mssql-session.ts'
import { findReading, type MssqlColumn } from './mssql-types.ts'

/** `place`: an expression of SQL that is a number of `mssqlPlaces`. */
export type MssqlRange = { readonly place: string; readonly where: string; readonly end: CursorValue }

/** By number. */
export const mssqlPlaces: readonly RowPlace[] = ['between', 'start', 'end']

type TypeOrder = {
  readonly type: CursorType
  /** The greatest value as a text. */
  readonly describe: (greatest: string) => string
  /** Of the type of the column itself: of another one it would be compared after rounding. */
  readonly literal: (value: string) => string
}

const toText = (type: string, style?: number) => (value: string) =>
  `CONVERT(nvarchar(${type}), ${value}${style === undefined ? '' : `, ${style}`})`
const number = (type: CursorType): TypeOrder => ({ type, describe: toText('50'), literal: (value) => value })
const time = (type: CursorType, sql_type: string, style: number): TypeOrder => ({
  ...{ type, describe: toText('40', style) },
  literal: (value) => `CONVERT(${sql_type}, N'${value}', ${style})`,
})
const text: TypeOrder = { type: 'text', describe: (value) => value, literal: quoteText }

const orders: ReadonlyMap<string, TypeOrder> = new Map<string, TypeOrder>([
  ...(['tinyint', 'smallint', 'int', 'bigint'] as const).map((name) => [name, number('integer')] as const),
  ['decimal', number('decimal')],
  ['numeric', number('decimal')],
  ['date', time('date', 'date', 23)],
  ['datetime', time('local_timestamp', 'datetime', 126)],
  ['datetime2', time('local_timestamp', 'datetime2(7)', 126)],
  ['smalldatetime', time('local_timestamp', 'smalldatetime', 126)],
  // Style 127: in UTC.
  ['datetimeoffset', time('timestamp', 'datetimeoffset(7)', 127)],
  ...(['char', 'varchar', 'nchar', 'nvarchar'] as const).map((name) => [name, text] as const),
])

/** `table`, `quoted`: names in brackets. Undefined where no row is there. Throws `RowSourceError`. */
export async function findMssqlRange(
  session: MssqlSession,
  table: string,
  quoted: string,
  column: MssqlColumn,
  cursor: RowCursor,
  signal: AbortSignal,
): Promise<MssqlRange | undefined> {
  const order = orders.get(column.type_name)
  if (order === undefined) throw refuseCursorType(cursor, column.type_name)
  checkCursorType(cursor, order.type)
  const [missing] = await session.query(
    `SELECT CASE WHEN EXISTS (SELECT 1 FROM ${table} WHERE ${quoted} IS NULL) THEN 1 ELSE 0 END`,
    signal,
  )
  if (missing?.[0] !== 0) throw missing?.[0] === 1 ? refuseMissingValues(cursor) : notMssql()
  // By the code units of the text, whatever the order of the database.
  const value = order === text ? `${findReading(column).select(quoted, column)} COLLATE Latin1_General_BIN2` : quoted
  const start = cursor.from && order.literal(cursor.from.value)
  const from = start === undefined ? '' : ` WHERE ${value} >= ${start}`
  const [greatest] = await session.query(`SELECT ${order.describe(`MAX(${value})`)} FROM ${table}${from}`, signal)
  const found = greatest?.[0]
  if (found === null) return undefined
  if (typeof found !== 'string') throw notMssql()
  const end = checkCursorValue(cursor, { type: order.type, value: found })
  const isStart = start === undefined ? '' : `WHEN ${value} = ${start} THEN 1 `
  const upTo = order.literal(end.value)
  return {
    place: `CASE ${isStart}WHEN ${value} = ${upTo} THEN 2 ELSE 0 END`,
    where: `${value} <= ${upTo}${start === undefined ? '' : ` AND ${value} >= ${start}`}`,
    end,
  }
}

/** No character but the quote has a meaning in a text of SQL Server. */
export function quoteText(value: string): string {
  return `N'${value.replaceAll("'", "''")}'`
}
