// The rows of a table of MySQL or MariaDB at or above a value of one column: the server compares the values, texts by their bytes.
import type { CursorType } from '../../../daemon/kernel/data/landed-dataset.ts'
import { type CursorValue, type RowCursor, refuseCursorType } from '../../../daemon/shared/row-source/row-cursor.ts'
import { findSqlRange, type SqlRange } from '../../../daemon/shared/row-source/sql-range.ts'
import type { MysqlSession } from './mysql-session.ts'

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
): Promise<SqlRange | undefined> {
  const type = types[type_name]
  if (type === undefined) throw refuseCursorType(cursor, type_name)
  const value = type === 'text' ? `CAST(CONVERT(${quoted} USING utf8mb4) AS BINARY)` : quoted
  const greatest = type === 'text' ? `MAX(${value})` : `CAST(MAX(${value}) AS CHAR)`
  const findFirst = async (sql: string) => (await session.query(sql, signal))[0]?.[0]?.toString() ?? null
  return await findSqlRange(
    cursor,
    { type, value, literal },
    {
      hasMissing: async () =>
        (await findFirst(`SELECT EXISTS (SELECT 1 FROM ${table} WHERE ${quoted} IS NULL)`)) !== '0',
      findGreatest: async (where) => await findFirst(`SELECT ${greatest} FROM ${table}${where}`),
    },
  )
}

/** A text is given by its bytes. */
function literal({ type, value }: CursorValue): string {
  if (type === 'text') return `x'${Buffer.from(value).toString('hex')}'`
  if (type === 'integer' || type === 'decimal') return value
  return `${type === 'date' ? 'DATE' : 'TIMESTAMP'}'${value}'`
}
