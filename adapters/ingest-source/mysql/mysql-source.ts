// Rows of a table of MySQL or MariaDB, as the server sends them, in a transaction that reads alone.
import type { DataSchema } from '../../../daemon/kernel/data/data-schema.ts'
import { describeJsonRow, describeJsonValue } from '../../../daemon/shared/row-source/json-row.ts'
import {
  max_value_bytes,
  nameSome,
  type RowRequest,
  type RowSource,
  RowSourceError,
} from '../../../daemon/shared/row-source/row-source.ts'
import { chooseTableColumns } from '../../../daemon/shared/row-source/table-columns.ts'
import type { MysqlDriver } from './driver.ts'
import { type MysqlAccess, type MysqlField, MysqlSession, type MysqlValue } from './mysql-session.ts'
import { columnOf, findStatedType, type MysqlColumn } from './mysql-types.ts'

const block_rows = 256
const block_characters = 2_097_152

export function mysqlSource(access: MysqlAccess, driver: MysqlDriver): RowSource {
  const session = new MysqlSession(access, driver)
  let stated: DataSchema = []
  return {
    async probe(signal) {
      const [[found] = []] = await session.query('SELECT VERSION()', signal)
      const version = textOf(found)
      const [number = ''] = /^\d{1,3}\.\d{1,3}/.exec(version) ?? []
      return `a server of ${/mariadb/i.test(version) ? 'MariaDB' : 'MySQL'} ${number}`
    },
    async *rows(request, signal) {
      for (const statement of sessionStatements) await session.query(statement, signal)
      const chosen = await chooseColumns(session, access.database, request, signal)
      const names = chosen.map(({ name }) => name)
      let columns: readonly MysqlColumn[] = []
      const onFields = (fields: readonly MysqlField[]) => {
        columns = names.flatMap((name, at) => (fields[at] ? [columnOf(name, fields[at])] : []))
        stated = names.flatMap((name, at) => (fields[at] && findStatedType(name, fields[at])) ?? [])
      }
      await session.query('START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY', signal)
      const select = buildSelect(access.database, request.table, chosen)
      yield* describeRows(session.stream(select, onFields, signal), names, () => columns)
      await session.query('COMMIT', signal)
    },
    statedColumns: () => stated,
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
type MysqlTableColumn = { readonly name: string; readonly is_large: boolean }

const large_types =
  "('json', 'geometry', 'point', 'linestring', 'polygon', 'multipoint', 'multilinestring', 'multipolygon')"

async function chooseColumns(
  session: MysqlSession,
  database: string,
  request: RowRequest,
  signal: AbortSignal,
): Promise<readonly MysqlTableColumn[]> {
  const isLarge = `IFNULL(CHARACTER_OCTET_LENGTH, 0) > ${max_value_bytes} OR DATA_TYPE IN ${large_types}`
  const ofTable = `TABLE_SCHEMA = ${literal(database)} AND TABLE_NAME = ${literal(request.table)}`
  const columns = await session.query(
    `SELECT COLUMN_NAME, ${isLarge} FROM information_schema.COLUMNS WHERE ${ofTable} ORDER BY ORDINAL_POSITION`,
    signal,
  )
  const known = columns.map(([name, large]) => ({ name: textOf(name), is_large: textOf(large) === '1' }))
  if (known.length > 0) return chooseTableColumns(request, known)
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

/** The last column says whether a value is too large, which is then not sent. */
function buildSelect(database: string, table: string, columns: readonly MysqlTableColumn[]): string {
  const isAbove = (quoted: string) => `OCTET_LENGTH(${quoted}) > ${max_value_bytes}`
  const values = columns.map(({ name, is_large }) => {
    const quoted = quoteName(name)
    return is_large ? `IF(${isAbove(quoted)}, NULL, ${quoted})` : quoted
  })
  const large = columns.filter(({ is_large }) => is_large).map(({ name }) => `COALESCE(${isAbove(quoteName(name))}, 0)`)
  const flag = large.length === 0 ? '0' : large.join(' OR ')
  return `SELECT ${[...values, flag].join(', ')} FROM ${quoteName(database)}.${quoteName(table)}`
}

async function* describeRows(
  rows: AsyncIterable<readonly MysqlValue[]>,
  names: readonly string[],
  columns: () => readonly MysqlColumn[],
): AsyncGenerator<readonly string[]> {
  let block: string[] = []
  let characters = 0
  for await (const row of rows) {
    const line = describeRow(names, columns(), row)
    block.push(line)
    characters += line.length
    if (block.length < block_rows && characters < block_characters) continue
    yield block
    block = []
    characters = 0
  }
  yield block
}

function describeRow(names: readonly string[], columns: readonly MysqlColumn[], row: readonly MysqlValue[]): string {
  if (columns.length !== names.length || row.length !== names.length + 1)
    throw new RowSourceError('the server does not answer as a server of MySQL does')
  if (row[names.length]?.toString() !== '0')
    throw new RowSourceError(`a row has a value of more than ${max_value_bytes} bytes`)
  const values = columns.map(({ form, describe }, at) => {
    const value = row[at]
    return describeJsonValue(form, value ? describe(value) : null)
  })
  return describeJsonRow(names, values)
}
