// The rows of a table of Oracle at or above a value of one column: the server compares the values, texts by their bytes.
import type { CursorType } from '../../../daemon/kernel/data/landed-dataset.ts'
import { type CursorValue, type RowCursor, refuseCursorType } from '../../../daemon/shared/row-source/row-cursor.ts'
import { findSqlRange, type SqlRange } from '../../../daemon/shared/row-source/sql-range.ts'
import type { OracleDriver } from './driver.ts'
import { notOracle } from './oracle-errors.ts'
import type { OracleBinds, OracleSession } from './oracle-session.ts'
import { type OracleColumn, quoteOracleName } from './oracle-types.ts'

export type OracleRange = SqlRange & { readonly binds: OracleBinds }

type OracleOrder = {
  readonly type: CursorType
  /** What is compared, of a column. */
  readonly value: (quoted: string) => string
  /** The greatest one as a text. */
  readonly describe: (greatest: string) => string
  /** Of a bind that has this value. */
  readonly literal: (bind: string, value: string) => string
}

const itself = (quoted: string) => quoted
const numbers = (type: CursorType): OracleOrder => ({
  ...{ type, value: itself },
  describe: (greatest) => `TO_CHAR(${greatest}, 'TM9', 'NLS_NUMERIC_CHARACTERS=''.,''')`,
  literal: (bind, value) => `TO_NUMBER(${bind}, '${describeDigits(value)}', 'NLS_NUMERIC_CHARACTERS=''.,''')`,
})
/** The format of a number: one for all would have more characters than a format may have. */
const describeDigits = (value: string) => value.replace('-', '').replaceAll(/\d/g, '9').replace('.', 'D')
const times = (type: CursorType, value: OracleOrder['value'], format: string, parse: string): OracleOrder => ({
  ...{ type, value },
  // A year before the first one has its sign, and is refused as the end.
  describe: (greatest) => `LTRIM(TO_CHAR(${greatest}, 'S${format}'))`,
  literal: (bind) => `${parse}(${bind}, '${format}')`,
})
const day = 'YYYY-MM-DD"T"HH24:MI:SS'
const inUtc = (quoted: string) => `SYS_EXTRACT_UTC(${quoted})`
const texts: OracleOrder = { type: 'text', value: itself, describe: itself, literal: itself }

const orders: ReadonlyMap<string, OracleOrder> = new Map<string, OracleOrder>([
  ['DATE', times('local_timestamp', itself, day, 'TO_DATE')],
  ['TIMESTAMP', times('local_timestamp', itself, `${day}.FF9`, 'TO_TIMESTAMP')],
  ['TIMESTAMP WITH TIME ZONE', times('timestamp', inUtc, `${day}.FF9`, 'TO_TIMESTAMP')],
  ['TIMESTAMP WITH LOCAL TIME ZONE', times('timestamp', inUtc, `${day}.FF9`, 'TO_TIMESTAMP')],
  ...(['CHAR', 'VARCHAR2', 'NCHAR', 'NVARCHAR2'] as const).map((name) => [name, texts] as const),
])

/** Undefined for a type whose values have no order that is kept. */
export function findOracleOrder({ type_name, scale }: OracleColumn): OracleOrder | undefined {
  if (type_name !== 'NUMBER') return orders.get(type_name)
  return scale !== undefined && scale <= 0 ? numbers('integer') : numbers('decimal')
}

/** Texts of national types are compared in their own set of characters. */
function bindOf(
  { type_name }: OracleColumn,
  { value }: CursorValue,
  driver: Pick<OracleDriver, 'DB_TYPE_NVARCHAR'>,
): unknown {
  const text = value.replace(/(Z|\+00)$/, '').replace(/^(\d{4}-\d\d-\d\d) /, '$1T')
  if (!type_name.includes('CHAR')) return text
  return type_name.startsWith('N') ? { val: value, type: driver.DB_TYPE_NVARCHAR } : value
}

/** `table`: names in quotes. Undefined where no row is there. Throws `RowSourceError`. */
export async function findOracleRange(
  session: Pick<OracleSession, 'query'>,
  driver: Pick<OracleDriver, 'DB_TYPE_NVARCHAR'>,
  table: string,
  column: OracleColumn,
  cursor: RowCursor,
  signal: AbortSignal,
): Promise<OracleRange | undefined> {
  const order = findOracleOrder(column)
  if (order === undefined) throw refuseCursorType(cursor, column.type_name)
  const quoted = quoteOracleName(column.name)
  const value = order.value(quoted)
  const from = cursor.from && { start_at: bindOf(column, cursor.from, driver) }
  const range = await findSqlRange(
    cursor,
    { type: order.type, value, literal: (each, end) => order.literal(`:${end}`, each.value) },
    {
      async hasMissing() {
        const sql = `SELECT '1' FROM ${table} WHERE ${quoted} IS NULL AND ROWNUM <= 1`
        return (await session.query(sql, signal)).length > 0
      },
      async findGreatest(where) {
        const sql = `SELECT ${order.describe(`MAX(${value})`)} FROM ${table}${where}`
        const found = (await session.query(sql, signal, from))[0]?.[0]
        if (found === null) return null
        if (typeof found !== 'string') throw notOracle()
        return order.type === 'timestamp' ? `${found}Z` : found.replace(/^(-?)\./, '$10.')
      },
    },
  )
  return range && { ...range, binds: { upto: bindOf(column, range.end, driver), ...from } }
}
