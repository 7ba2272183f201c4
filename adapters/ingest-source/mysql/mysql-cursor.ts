// The rows of a table of MySQL or MariaDB at or above a value of one column: the server compares the values, texts by their bytes.
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
import type { MysqlSession } from './mysql-session.ts'

/** `place`: an expression of SQL that is a number of `mysqlPlaces`. */
export type MysqlRange = { readonly place: string; readonly where: string; readonly end: CursorValue }

/** By number. */
export const mysqlPlaces: readonly RowPlace[] = ['between', 'start', 'end']

/** By the names of types in the catalog. */
const types: Readonly<Record<string, CursorType>> = {
  ...{ tinyint: 'integer', smallint: 'integer', mediumint: 'integer', int: 'integer', bigint: 'integer' },
  ...{ decimal: 'decimal', date: 'date', datetime: 'local_timestamp', timestamp: 'timestamp' },
  ...{ char: 'text', varchar: 'text', tinytext: 'text', text: 'text' },
}

/** `table`, `quoted`: names in quotes. Undefined where no row is there. Throws `RowSourceError`. */
export async function findMysqlRange(
  session: MysqlSession,
  table: string,
  quoted: string,
  type_name: string,
  cursor: RowCursor,
  signal: AbortSignal,
): Promise<MysqlRange | undefined> {
  const type = types[type_name]
  if (type === undefined) throw refuseCursorType(cursor, type_name)
  checkCursorType(cursor, type)
  const missing = await session.query(`SELECT EXISTS (SELECT 1 FROM ${table} WHERE ${quoted} IS NULL)`, signal)
  if (missing[0]?.[0]?.toString() !== '0') throw refuseMissingValues(cursor)
  const value = type === 'text' ? `CAST(CONVERT(${quoted} USING utf8mb4) AS BINARY)` : quoted
  const start = cursor.from && literal(cursor.from)
  const from = start === undefined ? '' : ` WHERE ${value} >= ${start}`
  const greatest = type === 'text' ? `MAX(${value})` : `CAST(MAX(${value}) AS CHAR)`
  const [[found] = []] = await session.query(`SELECT ${greatest} FROM ${table}${from}`, signal)
  if (found === null || found === undefined) return undefined
  const end = checkCursorValue(cursor, { type, value: found.toString() })
  const isStart = start === undefined ? 'FALSE' : `${value} = ${start}`
  const upTo = literal(end)
  return {
    place: `CASE WHEN ${isStart} THEN 1 WHEN ${value} = ${upTo} THEN 2 ELSE 0 END`,
    where: `${value} <= ${upTo}${start === undefined ? '' : ` AND ${value} >= ${start}`}`,
    end,
  }
}

/** The pattern of its type holds for the value, which `checkCursorValue` has seen; a text is given by its bytes. */
function literal({ type, value }: CursorValue): string {
  if (type === 'text') return `x'${Buffer.from(value).toString('hex')}'`
  if (type === 'integer' || type === 'decimal') return value
  return `${type === 'date' ? 'DATE' : 'TIMESTAMP'}'${value}'`
}
