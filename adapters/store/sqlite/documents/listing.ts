// Pages of documents in the order of an indexed field, found by seeking and never by counting past.

import { readCursor, writeCursor } from '../../../../daemon/kernel/store/list-cursor.ts'
import { PageFill } from '../../../../daemon/kernel/store/page-fill.ts'
import type {
  CursorPosition,
  Doc,
  DocumentPage,
  ListQuery,
  Scalar,
  StoredFields,
} from '../../../../daemon/kernel/store/store.ts'
import { isFixedColumn, type SqlCell, toCell, toScalar } from './columns.ts'
import { joinClauses, requireColumn, type SqlClause } from './filter.ts'
import { buildScopedWhere } from './read-scope.ts'
import type { DocumentRow, SqliteTable } from './table.ts'

type OrderedRow = DocumentRow & { at: SqlCell }

/** A run of documents that one index range answers: a clause, and how to order within it. */
type ListSegment = SqlClause & { readonly order: string; readonly isAbsent?: true }

/**
 * Ties are broken by id in the same direction. A document without the field counts as smaller than any value: first
 * when ascending, last when descending. Ids and strings are ordered by their UTF-8 bytes.
 * @throws Refusal('malformed') for a foreign cursor; Error for a field that is not an index, or a limit below 1.
 */
export function listPage<T extends StoredFields>(
  collection: string,
  table: SqliteTable,
  query: ListQuery,
): DocumentPage<T> {
  if (!Number.isInteger(query.limit) || query.limit < 1) throw new Error('a limit is a whole number from 1')
  const where = buildScopedWhere(table, query.filter, query.read_scope)
  const column = query.order ? requireColumn(table, query.order.field) : undefined
  const after = readCursor(collection, query)
  const isDescending = query.order?.direction === 'desc'
  const segments = column ? segmentsByField(column, isDescending, after, requiresValue(query)) : [segmentById(after)]
  const hint = indexHint(table, query)
  const fill = new PageFill(query.limit)
  const docs: Doc<T>[] = []
  let last: OrderedRow | undefined
  const nextCursor = () =>
    last && { next_cursor: writeCursor(collection, query, { value: toScalar(last.at), id: last.id }) }
  for (const segment of segments) {
    const wanted = query.limit + 1 - docs.length
    for (const row of readRows(table, column, joinClauses([where, segment]), segment.order, wanted, hint)) {
      if (!fill.add(row.body.length)) return { docs, ...nextCursor() }
      docs.push(toDocument<T>(row))
      last = row
    }
  }
  return { docs }
}

export function toDocument<T extends StoredFields>({ id, version, body }: DocumentRow): Doc<T> {
  return { id, version, value: JSON.parse(body) as T }
}

export function countDocuments(table: SqliteTable, where: SqlClause): number {
  return countGroups(table, 'NULL', where, '').at(0)?.count ?? 0
}

/** Documents per value of an index field; those without it are left out. */
export function countByField(table: SqliteTable, field: string, where: SqlClause): Map<Scalar, number> {
  const column = requireColumn(table, field)
  const rows = countGroups(table, column, where, `AND ${column} IS NOT NULL GROUP BY 1`, groupHint(table, field))
  return new Map(rows.map(({ at, count }) => [toScalar(at) as Scalar, count]))
}

/** Documents per bucket, by the bucket's start; values that are not numbers are left out. */
export function countByBucket(
  table: SqliteTable,
  field: string,
  interval: number,
  where: SqlClause,
): Map<number, number> {
  if (!(interval > 0 && Number.isFinite(interval))) throw new Error('an interval is a number above 0')
  const column = requireColumn(table, field)
  const isNumber = `typeof(${column}) IN ('integer', 'real')`
  const bucket = { sql: `floor(${column} / ?)`, bind: [interval] }
  const rows = countGroups(
    table,
    bucket.sql,
    { ...where, bind: [...bucket.bind, ...where.bind] },
    `AND ${isNumber} GROUP BY 1`,
  )
  return new Map(rows.map(({ at, count }) => [Number(at) * interval, count]))
}

/** The declared order of a field and nothing but fixed columns is what its counts are read from, without any document. */
export function groupHint({ orders }: SqliteTable, field: string): string {
  const own = orders.find(({ fields: [first, ...rest] }) => first === field && rest.every(isFixedColumn))
  return own ? `INDEXED BY ${own.index}` : ''
}

function countGroups(
  table: SqliteTable,
  of: string,
  where: SqlClause,
  rest: string,
  hint = '',
): { at: SqlCell; count: number }[] {
  const sql = `SELECT ${of} AS at, count(*) AS count FROM ${table.name} ${hint} WHERE ${where.sql} ${rest}`
  return table.prepare(sql).all(...where.bind) as { at: SqlCell; count: number }[]
}

/**
 * The index of the declared order that fits best. SQLite knows nothing of how the values lie, and would rather walk a span
 * of the order field, however wide, than one value of another field in that order.
 */
export function indexHint(
  { orders }: SqliteTable,
  { filter = {}, order }: Pick<ListQuery, 'filter' | 'order'>,
): string {
  const isOneValue = (field: string) => filter[field] !== undefined && typeof filter[field] !== 'object'
  const best = orders.find(
    ({ fields }) => fields.at(-1) === order?.field && fields.slice(0, -1).every((field) => isOneValue(field)),
  )
  return best ? `INDEXED BY ${best.index}` : ''
}

function readRows(
  table: SqliteTable,
  column: string | undefined,
  where: SqlClause,
  order: string,
  limit: number,
  hint: string,
): IterableIterator<OrderedRow> {
  const sql = `SELECT id, version, body, ${column ?? 'NULL'} AS at FROM ${table.name} ${hint}
    WHERE ${where.sql} ORDER BY ${order} LIMIT ?`
  return table.prepare(sql).iterate(...where.bind, limit) as IterableIterator<OrderedRow>
}

function segmentById(after: CursorPosition | undefined): ListSegment {
  return after ? { sql: 'id > ?', bind: [after.id], order: 'id' } : { sql: '1', bind: [], order: 'id' }
}

/** Whether no document without the field that they are ordered by can be meant. */
function requiresValue({ filter, order }: ListQuery): boolean {
  const condition = order && filter?.[order.field]
  return condition !== undefined && (typeof condition !== 'object' || !('exists' in condition))
}

/** Documents without the field are queried apart from those with it: one range cannot hold NULL and values. */
function segmentsByField(
  column: string,
  isDescending: boolean,
  after: CursorPosition | undefined,
  hasValuesAlone: boolean,
): ListSegment[] {
  const segments = listSegments(column, isDescending, after)
  return hasValuesAlone ? segments.filter(({ isAbsent }) => !isAbsent) : segments
}

function listSegments(column: string, isDescending: boolean, after: CursorPosition | undefined): ListSegment[] {
  const direction = isDescending ? 'DESC' : 'ASC'
  const beyond = isDescending ? '<' : '>'
  const absent: ListSegment = { sql: `${column} IS NULL`, bind: [], order: `id ${direction}`, isAbsent: true }
  const present: ListSegment = {
    sql: `${column} IS NOT NULL`,
    bind: [],
    order: `${column} ${direction}, id ${direction}`,
  }
  if (!after) return isDescending ? [present, absent] : [absent, present]
  if (after.value === null) {
    const rest: ListSegment = { ...absent, sql: `${absent.sql} AND id ${beyond} ?`, bind: [after.id] }
    return isDescending ? [rest] : [rest, present]
  }
  const sql = `(${column}, id) ${beyond} (?, ?)`
  const rest: ListSegment = { ...present, sql, bind: [toCell(after.value), after.id] }
  return isDescending ? [rest, absent] : [rest]
}
