// Rows of a table of MySQL or MariaDB, as the server sends them, in a transaction that reads alone.
import type { DataSchema } from '../../../daemon/kernel/data/data-schema.ts'
import {
  max_value_bytes,
  nameSome,
  type RowRequest,
  type RowSource,
  RowSourceError,
} from '../../../daemon/shared/row-source/row-source.ts'
import type { SqlRange } from '../../../daemon/shared/row-source/sql-range.ts'
import { blocksOfRows, rowDescriber } from '../../../daemon/shared/row-source/sql-rows.ts'
import { chooseCursorColumn, chooseTableColumns } from '../../../daemon/shared/row-source/table-columns.ts'
import type { MysqlDriver } from './driver.ts'
import { findMysqlRange } from './mysql-cursor.ts'
import { notMysql } from './mysql-errors.ts'
import { type MysqlAccess, type MysqlField, MysqlSession, type MysqlValue } from './mysql-session.ts'
import { columnOf, findStatedType, findUsualType } from './mysql-types.ts'

export function mysqlSource(access: MysqlAccess, driver: MysqlDriver): RowSource {
  const session = new MysqlSession(access, driver)
  let stated: DataSchema = []
  let usual: DataSchema = []
  return {
    async probe(signal) {
      const [[found] = []] = await session.query('SELECT VERSION()', signal)
      const version = textOf(found)
      const [number = ''] = /^\d{1,3}\.\d{1,3}/.exec(version) ?? []
      return `a server of ${/mariadb/i.test(version) ? 'MariaDB' : 'MySQL'} ${number}`
    },
    async *rows(request, signal) {
      for (const statement of sessionStatements) await session.query(statement, signal)
      const known = await listColumns(session, access.database, request, signal)
      const chosen = chooseTableColumns(request, known)
      usual = chosen.map(({ name, type_name }) => findUsualType(name, type_name))
      let describe: (row: readonly MysqlValue[]) => string = () => {
        throw notMysql()
      }
      const onFields = (fields: readonly MysqlField[]) => {
        if (fields.length !== chosen.length + 2) return
        const columns = chosen.flatMap(({ name }, at) => (fields[at] ? [columnOf(name, fields[at])] : []))
        stated = chosen.flatMap(({ name }, at) => (fields[at] && findStatedType(name, fields[at])) ?? [])
        describe = rowDescriber(columns, request.cursor?.onRow, notMysql)
      }
      await session.query('START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY', signal)
      const table = `${quoteName(access.database)}.${quoteName(request.table)}`
      const column = chooseCursorColumn(request, known)
      const range =
        request.cursor &&
        column &&
        (await findMysqlRange(session, table, quoteName(column.name), column.type_name, request.cursor, signal))
      if (request.cursor && !range) return
      const rows = session.stream(buildSelect(table, chosen, range), onFields, signal)
      yield* blocksOfRows(rows, (row) => describe(row))
      if (range) request.cursor?.onEnd(range.end)
      await session.query('COMMIT', signal)
    },
    statedColumns: () => stated,
    usualColumns: () => usual,
    close: () => session.close(),
  }
}

/**
 * One moment of the whole database; nothing that the table runs, such as a function of a view, can write. The texts of
 * values do not depend on settings of the server. A reader may stand still for ten minutes, and a table that someone alters
 * is waited for ten seconds.
 */
const sessionStatements = [
  "SET SESSION sql_mode = '', time_zone = '+00:00', net_write_timeout = 600, lock_wait_timeout = 10",
  'SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ',
]

/** `is_large`: its values may be above the limit. */
type MysqlTableColumn = { readonly name: string; readonly is_large: boolean; readonly type_name: string }

const large_types =
  "('json', 'geometry', 'point', 'linestring', 'polygon', 'multipoint', 'multilinestring', 'multipolygon')"

async function listColumns(
  session: MysqlSession,
  database: string,
  request: RowRequest,
  signal: AbortSignal,
): Promise<readonly MysqlTableColumn[]> {
  const isLarge = `IFNULL(CHARACTER_OCTET_LENGTH, 0) > ${max_value_bytes} OR DATA_TYPE IN ${large_types}`
  const ofTable = `TABLE_SCHEMA = ${literal(database)} AND TABLE_NAME = ${literal(request.table)}`
  const columns = await session.query(
    `SELECT COLUMN_NAME, ${isLarge}, LOWER(DATA_TYPE) FROM information_schema.COLUMNS WHERE ${ofTable} ORDER BY ORDINAL_POSITION`,
    signal,
  )
  const known = columns.map(([name, large, type]) => {
    return { name: textOf(name), is_large: textOf(large) === '1', type_name: textOf(type) }
  })
  if (known.length > 0) return known
  const tables = await session.query(
    `SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = ${literal(database)} ORDER BY 1 LIMIT 20`,
    signal,
  )
  const names = nameSome(tables.map(([name]) => textOf(name)))
  throw new RowSourceError(`the database has no table ${nameSome([request.table])}: it has ${names}`)
}

const textOf = (value: MysqlValue | undefined) => value?.toString() ?? ''

/** By its bytes: no character has a meaning, whatever the mode of the server. */
const literal = (text: string) => `CONVERT(x'${Buffer.from(text).toString('hex')}' USING utf8mb4)`
const quoteName = (name: string) => `\`${name.replaceAll('`', '``')}\``

/** After the values a column says whether one is too large, which is then not sent. The last one is the place of the row. */
function buildSelect(table: string, columns: readonly MysqlTableColumn[], range: SqlRange | undefined): string {
  const isAbove = (quoted: string) => `OCTET_LENGTH(${quoted}) > ${max_value_bytes}`
  const values = columns.map(({ name, is_large }) => {
    const quoted = quoteName(name)
    return is_large ? `IF(${isAbove(quoted)}, NULL, ${quoted})` : quoted
  })
  const large = columns.filter(({ is_large }) => is_large).map(({ name }) => `COALESCE(${isAbove(quoteName(name))}, 0)`)
  const flag = large.length === 0 ? '0' : large.join(' OR ')
  const where = range ? ` WHERE ${range.where}` : ''
  return `SELECT ${[...values, flag, range?.place ?? '0'].join(', ')} FROM ${table}${where}`
}
