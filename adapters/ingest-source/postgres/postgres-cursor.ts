// The rows of a table of PostgreSQL at or above a value of one column: the server compares the values, texts by their bytes.
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
import type { PostgresSession } from './postgres-session.ts'
import type { TableColumn } from './table-catalog.ts'

/** `place`: an expression of SQL that is a number of `postgresPlaces`. */
export type PostgresRange = { readonly place: string; readonly where: string; readonly end: CursorValue }

/** By number. */
export const postgresPlaces: readonly RowPlace[] = ['between', 'start', 'end']

/** By the ids of types: how the values are cast, and what they are. */
const types: Readonly<Record<number, readonly [cast: string, type: CursorType]>> = {
  20: ['bigint', 'integer'],
  21: ['bigint', 'integer'],
  23: ['bigint', 'integer'],
  25: ['text', 'text'],
  1043: ['text', 'text'],
  1082: ['date', 'date'],
  1114: ['timestamp', 'local_timestamp'],
  1184: ['timestamptz', 'timestamp'],
  1700: ['numeric', 'decimal'],
}

/** `table`: quoted. Undefined where no row is there. Throws `RowSourceError`. */
export async function findPostgresRange(
  session: PostgresSession,
  table: string,
  { type_oid, type_name }: TableColumn,
  quoted: string,
  cursor: RowCursor,
  signal: AbortSignal,
): Promise<PostgresRange | undefined> {
  const [cast, type] = types[type_oid] ?? []
  if (cast === undefined || type === undefined) throw refuseCursorType(cursor, type_name)
  checkCursorType(cursor, type)
  const isMissing = await session.query(`SELECT EXISTS (SELECT 1 FROM ${table} WHERE ${quoted} IS NULL)`, [], signal)
  if (isMissing[0]?.[0] !== 'f') throw refuseMissingValues(cursor)
  const value = type === 'text' ? `(${quoted}::text COLLATE "C")` : quoted
  const start = cursor.from && literal(cursor.from.value, cast)
  const from = start === undefined ? '' : ` WHERE ${value} >= ${start}`
  const [[greatest] = []] = await session.query(`SELECT max(${value})::text FROM ${table}${from}`, [], signal)
  if (greatest === null || greatest === undefined) return undefined
  const end = checkCursorValue(cursor, { type, value: greatest })
  const isStart = start === undefined ? 'false' : `${value} = ${start}`
  const upTo = literal(greatest, cast)
  return {
    place: `CASE WHEN ${isStart} THEN 1 WHEN ${value} = ${upTo} THEN 2 ELSE 0 END`,
    where: `${value} <= ${upTo}${start === undefined ? '' : ` AND ${value} >= ${start}`}`,
    end,
  }
}

/** By its bytes: no character has a meaning, whatever the server is set to. A cursor takes no parameters. */
function literal(text: string, cast: string): string {
  return `convert_from(decode('${Buffer.from(text).toString('hex')}', 'hex'), 'UTF8')::${cast}`
}
