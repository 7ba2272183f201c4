// Rows of a table of Oracle, page by page, in a transaction that reads alone.
import { describeJsonRow } from '../../../daemon/shared/row-source/json-row.ts'
import type { RowCursor } from '../../../daemon/shared/row-source/row-cursor.ts'
import {
  max_value_bytes,
  nameSome,
  type RowRequest,
  type RowSource,
  RowSourceError,
} from '../../../daemon/shared/row-source/row-source.ts'
import { chooseTableColumns } from '../../../daemon/shared/row-source/table-columns.ts'
import type { OracleDriver } from './driver.ts'
import { findOracleRange, type OracleRange, oraclePlaces } from './oracle-cursor.ts'
import { notOracle } from './oracle-errors.ts'
import { type OracleAccess, type OracleRow, OracleSession } from './oracle-session.ts'
import {
  describeOracleValue,
  findOracleReading,
  findOracleStatedType,
  findOracleUsualType,
  type OracleColumn,
  quoteOracleName,
  selectOracleRows,
  stripSizes,
} from './oracle-types.ts'

/** One moment of the whole database; the texts of values and the order of texts do not depend on settings of the server. */
const sessionStatements = [
  "ALTER SESSION SET TIME_ZONE = '+00:00' NLS_CALENDAR = 'GREGORIAN' NLS_COMP = 'BINARY' NLS_SORT = 'BINARY'",
  'SET TRANSACTION READ ONLY',
]

export function oracleSource(access: OracleAccess, driver: OracleDriver): RowSource {
  const session = new OracleSession(access, driver)
  let chosen: readonly OracleColumn[] = []
  return {
    async probe(signal) {
      const [row] = await session.query(
        "SELECT version FROM product_component_version WHERE product LIKE 'Oracle%'",
        signal,
      )
      const [number] = /^\d{1,3}\.\d{1,3}/.exec(String(row?.[0])) ?? []
      if (number === undefined) throw notOracle()
      return `a server of Oracle Database ${number}`
    },
    async *rows(request, signal) {
      for (const statement of sessionStatements) await session.query(statement, signal)
      const schema = access.schema ?? (await findOwnSchema(session, signal))
      const known = await listColumns(session, schema, request.table, signal)
      chosen = chooseTableColumns(request, known)
      const table = `${quoteOracleName(schema)}.${quoteOracleName(request.table)}`
      const range = await findRange(session, driver, table, request, known, signal)
      if (request.cursor && !range) return
      yield* readRows(session, selectOracleRows(table, chosen, range), chosen, range, request.cursor?.onRow, signal)
      if (range) request.cursor?.onEnd(range.end)
      await session.query('COMMIT', signal)
    },
    statedColumns: () => chosen.flatMap((column) => findOracleStatedType(column) ?? []),
    usualColumns: () => chosen.map(findOracleUsualType),
    close: () => session.close(),
  }
}

async function findOwnSchema(session: OracleSession, signal: AbortSignal): Promise<string> {
  const [row] = await session.query("SELECT SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA') FROM DUAL", signal)
  if (typeof row?.[0] !== 'string') throw notOracle()
  return row[0]
}

async function listColumns(
  session: OracleSession,
  schema: string,
  table: string,
  signal: AbortSignal,
): Promise<readonly OracleColumn[]> {
  const rows = await session.query(
    `SELECT column_name, data_type, TO_CHAR(data_precision), TO_CHAR(data_scale) FROM all_tab_columns
    WHERE owner = :owner AND table_name = :table_name ORDER BY column_id`,
    signal,
    { owner: schema, table_name: table },
  )
  if (rows.length > 0) return rows.map(readColumn)
  const tables = await session.query(
    'SELECT table_name FROM (SELECT table_name FROM all_tables WHERE owner = :owner ORDER BY 1) WHERE ROWNUM <= 20',
    signal,
    { owner: schema },
  )
  const names = nameSome(tables.map(([name]) => String(name)))
  throw new RowSourceError(`the schema has no table ${nameSome([table])}: it has ${names}`)
}

/** No name of Oracle has a quotation mark. */
function readColumn([name, type_name, precision, scale]: OracleRow): OracleColumn {
  if (typeof name !== 'string' || typeof type_name !== 'string' || name.includes('"')) throw notOracle()
  const numberOf = (value: unknown) => (typeof value === 'string' ? Number(value) : undefined)
  return { name, type_name: stripSizes(type_name), precision: numberOf(precision), scale: numberOf(scale) }
}

async function findRange(
  session: OracleSession,
  driver: OracleDriver,
  table: string,
  { table: name, cursor }: RowRequest,
  known: readonly OracleColumn[],
  signal: AbortSignal,
): Promise<OracleRange | undefined> {
  if (!cursor) return undefined
  const [column] = chooseTableColumns({ table: name, columns: [cursor.column] }, known)
  return column && (await findOracleRange(session, driver, table, column, cursor, signal))
}

async function* readRows(
  session: OracleSession,
  sql: string,
  columns: readonly OracleColumn[],
  range: OracleRange | undefined,
  onRow: RowCursor['onRow'] | undefined,
  signal: AbortSignal,
): AsyncGenerator<readonly string[]> {
  let characters = 0
  for await (const page of session.pages(sql, range?.binds ?? {}, () => characters, signal)) {
    const block = page.map((row) => describeOracleRow(columns, row, onRow))
    characters = block.reduce((sum, line) => sum + line.length, 0)
    yield block
  }
}

export function describeOracleRow(
  columns: readonly OracleColumn[],
  row: OracleRow,
  onRow: RowCursor['onRow'] | undefined,
): string {
  const place = oraclePlaces[Number(row[columns.length + 1])]
  if (row[columns.length] === '1') throw new RowSourceError(`a row has a value of more than ${max_value_bytes} bytes`)
  if (row.length !== columns.length + 2 || row[columns.length] !== '0' || place === undefined) throw notOracle()
  const line = describeJsonRow(
    columns.map(({ name }) => name),
    columns.map((column, at) => describeOracleValue(findOracleReading(column).form, row[at])),
  )
  onRow?.(place)
  return line
}
