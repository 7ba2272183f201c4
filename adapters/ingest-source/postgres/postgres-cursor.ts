// The rows of a table of PostgreSQL at or above a value of one column: the server compares the values, texts by their bytes.
import type { CursorType } from '../../../daemon/kernel/data/landed-dataset.ts'
import { type RowCursor, refuseCursorType } from '../../../daemon/shared/row-source/row-cursor.ts'
import { findSqlRange, type SqlRange } from '../../../daemon/shared/row-source/sql-range.ts'
import type { PostgresSession } from './postgres-session.ts'
import type { TableColumn } from './table-catalog.ts'

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
): Promise<SqlRange | undefined> {
  const [cast, type] = types[type_oid] ?? []
  if (cast === undefined || type === undefined) throw refuseCursorType(cursor, type_name)
  const value = type === 'text' ? `(${quoted}::text COLLATE "C")` : quoted
  const findFirst = async (sql: string) => (await session.query(sql, [], signal))[0]?.[0] ?? null
  return await findSqlRange(
    cursor,
    { type, value, literal: (each) => literal(each.value, cast) },
    {
      hasMissing: async () =>
        (await findFirst(`SELECT EXISTS (SELECT 1 FROM ${table} WHERE ${quoted} IS NULL)`)) !== 'f',
      findGreatest: async (where) => await findFirst(`SELECT max(${value})::text FROM ${table}${where}`),
    },
  )
}

/** By its bytes: no character has a meaning, whatever the server is set to. A cursor takes no parameters. */
function literal(text: string, cast: string): string {
  return `convert_from(decode('${Buffer.from(text).toString('hex')}', 'hex'), 'UTF8')::${cast}`
}
