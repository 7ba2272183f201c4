// Rows of a table of Oracle, page by page, in a transaction that reads alone.
import type { RowCursor } from '../../../daemon/shared/row-source/row-cursor.ts'
import { nameSome, type RowSource, RowSourceError } from '../../../daemon/shared/row-source/row-source.ts'
import { blocksOfPages, rowDescriber } from '../../../daemon/shared/row-source/sql-rows.ts'
import { chooseCursorColumn, chooseTableColumns } from '../../../daemon/shared/row-source/table-columns.ts'
import type { OracleDriver } from './driver.ts'
import { findOracleRange } from './oracle-cursor.ts'
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
      const column = chooseCursorColumn(request, known)
      const range =
        request.cursor && column && (await findOracleRange(session, driver, table, column, request.cursor, signal))
      if (request.cursor && !range) return
      const describe = oracleRowDescriber(chosen, request.cursor?.onRow)
      const fetch = await session.open(selectOracleRows(table, chosen, range), range?.binds ?? {}, signal)
      yield* blocksOfPages(fetch, describe, notOracle)
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

export function oracleRowDescriber(
  columns: readonly OracleColumn[],
  onRow: RowCursor['onRow'] | undefined,
): (row: OracleRow) => string {
  const described = columns.map((column) => {
    const { form } = findOracleReading(column)
    return { name: column.name, describe: (value: unknown) => describeOracleValue(form, value) }
  })
  return rowDescriber(described, onRow, notOracle)
}
