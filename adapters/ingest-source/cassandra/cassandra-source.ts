// Rows of a table or a materialized view of Cassandra, page by page.
import type { DataColumn, DataSchema } from '../../../daemon/kernel/data/data-schema.ts'
import { describeJsonRow, refuseLargeRow } from '../../../daemon/shared/row-source/json-row.ts'
import {
  max_row_characters,
  nameSome,
  type RowRequest,
  type RowSource,
  RowSourceError,
} from '../../../daemon/shared/row-source/row-source.ts'
import { chooseTableColumns } from '../../../daemon/shared/row-source/table-columns.ts'
import { ColumnOrder } from './cassandra-cursor.ts'
import { type CassandraAccess, CassandraSession } from './cassandra-session.ts'
import { notCassandra } from './cql-frame.ts'
import type { CqlPage, CqlRow } from './cql-page.ts'
import { describeColumn } from './cql-value.ts'

const block_characters = 2_097_152
/** Of values of one column, which are small. */
const scanned_rows = 1_000
const max_catalog_rows = 4_000

type CatalogColumn = { readonly name: string; readonly type_name: string }

export function cassandraSource(access: CassandraAccess): RowSource {
  const session = new CassandraSession(access)
  let chosen: readonly CatalogColumn[] = []
  return {
    async probe(signal) {
      const version = { cql: 'SELECT release_version FROM system.local', page_rows: 1 }
      const [[found] = []] = (await session.query(version, signal)).rows
      const [number] = /^\d{1,3}\.\d{1,3}/.exec(found?.toString() ?? '') ?? []
      if (number === undefined) throw notCassandra()
      return `a server of Cassandra ${number}`
    },
    async *rows(request, signal) {
      const known = await listColumns(session, access.keyspace, request.table, signal)
      chosen = chooseTableColumns(request, known)
      const table = `${quoteName(access.keyspace)}.${quoteName(request.table)}`
      yield* request.cursor
        ? readNew(session, table, chosen, known, request, signal)
        : readRows(session, `SELECT ${listNames(chosen)} FROM ${table}`, chosen, undefined, signal)
    },
    statedColumns: () => chosen.flatMap(({ name, type_name }) => findStatedType(name, type_name) ?? []),
    usualColumns: () => chosen.map(({ name, type_name }) => ({ name, type: findUsualType(type_name) })),
    async close() {
      session.close()
    },
  }
}

const listNames = (columns: readonly CatalogColumn[]) => columns.map(({ name }) => quoteName(name)).join(', ')
const quoteName = (name: string) => `"${name.replaceAll('"', '""')}"`
const quoteText = (text: string) => `'${text.replaceAll("'", "''")}'`

/** In the order in which `DESCRIBE` has them. */
const column_kinds = ['partition_key', 'clustering', 'static', 'regular']

async function listColumns(
  session: CassandraSession,
  keyspace: string,
  table: string,
  signal: AbortSignal,
): Promise<readonly CatalogColumn[]> {
  const ofTable = `keyspace_name = ${quoteText(keyspace)} AND table_name = ${quoteText(table)}`
  const cql = `SELECT column_name, type, kind, position FROM system_schema.columns WHERE ${ofTable}`
  const rows: CqlRow[] = []
  // A server may end a page before it has as many rows as were requested.
  let page_state: Buffer | undefined
  do {
    const page = await session.query({ cql, page_rows: max_catalog_rows, page_state }, signal)
    rows.push(...page.rows)
    if (rows.length > max_catalog_rows) throw new RowSourceError(`the table has more than ${max_catalog_rows} columns`)
    page_state = page.page_state
  } while (page_state)
  const columns = rows.map(([name, type, kind, position]) => ({
    ...{ name: name?.toString() ?? '', type_name: type?.toString() ?? '' },
    ...{
      kind: column_kinds.indexOf(kind?.toString() ?? ''),
      position: position?.length === 4 ? position.readInt32BE() : 0,
    },
  }))
  if (columns.length > 0)
    return columns.toSorted((a, b) => a.kind - b.kind || a.position - b.position || (a.name < b.name ? -1 : 1))
  const tables = `SELECT table_name FROM system_schema.tables WHERE keyspace_name = ${quoteText(keyspace)} LIMIT 20`
  const found = await session.query({ cql: tables, page_rows: 20 }, signal)
  const names = nameSome(found.rows.map(([name]) => name?.toString() ?? ''))
  throw new RowSourceError(`the keyspace has no table ${nameSome([table])}: it has ${names}`)
}

/** First the greatest value: rows with greater ones, which come meanwhile, are for the next reading. */
async function* readNew(
  session: CassandraSession,
  table: string,
  chosen: readonly CatalogColumn[],
  known: readonly CatalogColumn[],
  { table: name, cursor }: RowRequest,
  signal: AbortSignal,
): AsyncGenerator<readonly string[]> {
  const [column] = cursor ? chooseTableColumns({ table: name, columns: [cursor.column] }, known) : []
  if (!cursor || !column) return
  const order = new ColumnOrder(cursor, column.type_name)
  const quoted = quoteName(column.name)
  for await (const { rows } of session.pages(`SELECT ${quoted} FROM ${table}`, signal, scanned_rows))
    for (const [value] of rows) order.look(value)
  const condition = order.condition(quoted)
  if (condition === undefined) return
  const cql = `SELECT ${listNames(chosen)}, ${quoted} FROM ${table} WHERE ${condition}`
  yield* readRows(session, cql, chosen, order, signal)
  order.finish()
}

/** The value of the cursor column is after all others. */
async function* readRows(
  session: CassandraSession,
  cql: string,
  chosen: readonly CatalogColumn[],
  order: ColumnOrder | undefined,
  signal: AbortSignal,
): AsyncGenerator<readonly string[]> {
  const names = chosen.map(({ name }) => name)
  for await (const page of session.pages(cql, signal)) {
    if (page.columns.length !== names.length + (order ? 1 : 0)) throw notCassandra()
    yield* describePage(page, names, order)
  }
}

function* describePage({ rows, columns }: CqlPage, names: readonly string[], order: ColumnOrder | undefined) {
  let block: string[] = []
  let characters = 0
  for (const row of rows) {
    let row_characters = 0
    const values = names.map((name, at) => {
      const column = columns[at]
      if (column?.name !== name) throw notCassandra()
      const text = describeColumn(name, column.type, row[at])
      row_characters += text.length
      if (row_characters > max_row_characters) throw refuseLargeRow()
      return text
    })
    const line = describeJsonRow(names, values)
    order?.take(row[names.length])
    block.push(line)
    characters += line.length
    if (characters < block_characters) continue
    yield block
    block = []
    characters = 0
  }
  if (block.length > 0) yield block
}

const usual_types: Readonly<Record<string, DataColumn['type']>> = {
  ...{ tinyint: 'int64', smallint: 'int64', int: 'int64', bigint: 'int64', counter: 'int64', varint: 'int64' },
  ...{ boolean: 'boolean', float: 'double', double: 'double', date: 'date', timestamp: 'timestamp' },
}
/** Whose values say more than their type does: dates beyond the calendar, numbers that are none, texts of any kind. */
const inferred: ReadonlySet<string> = new Set([
  'varint',
  'float',
  'double',
  'date',
  'timestamp',
  'text',
  'ascii',
  'time',
])

function findStatedType(name: string, type_name: string): DataSchema[number] | undefined {
  return inferred.has(type_name) ? undefined : { name, type: findUsualType(type_name) }
}

/** A type that a user defined has the name that they chose, such as `constructor`. */
function findUsualType(type_name: string): DataColumn['type'] {
  return (Object.hasOwn(usual_types, type_name) ? usual_types[type_name] : undefined) ?? 'text'
}
