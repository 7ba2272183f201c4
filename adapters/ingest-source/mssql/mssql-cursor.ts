// The rows of a table of SQL Server at or above a value of one column: the server compares the values, texts by their code units.
import type { CursorType } from '../../../daemon/kernel/data/landed-dataset.ts'
import { type RowCursor, refuseCursorType } from '../../../daemon/shared/row-source/row-cursor.ts'
import { findSqlRange, type SqlRange } from '../../../daemon/shared/row-source/sql-range.ts'
import { notMssql } from './mssql-errors.ts'
import type { MssqlSession } from './mssql-session.ts'
import { findReading, type MssqlColumn } from './mssql-types.ts'

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
): Promise<SqlRange | undefined> {
  const order = orders.get(column.type_name)
  if (order === undefined) throw refuseCursorType(cursor, column.type_name)
  // By the code units of the text, whatever the order of the database.
  const value = order === text ? `${findReading(column).select(quoted, column)} COLLATE Latin1_General_BIN2` : quoted
  const findFirst = async (sql: string) => (await session.query(sql, signal))[0]?.[0]
  return await findSqlRange(
    cursor,
    { type: order.type, value, literal: (each) => order.literal(each.value) },
    {
      async hasMissing() {
        const isThere = `EXISTS (SELECT 1 FROM ${table} WHERE ${quoted} IS NULL)`
        const found = await findFirst(`SELECT CASE WHEN ${isThere} THEN 1 ELSE 0 END`)
        if (found !== 0 && found !== 1) throw notMssql()
        return found === 1
      },
      async findGreatest(where) {
        const found = await findFirst(`SELECT ${order.describe(`MAX(${value})`)} FROM ${table}${where}`)
        if (found !== null && typeof found !== 'string') throw notMssql()
        return found
      },
    },
  )
}

/** No character but the quote has a meaning in a text of SQL Server. */
export function quoteText(value: string): string {
  return `N'${value.replaceAll("'", "''")}'`
}
