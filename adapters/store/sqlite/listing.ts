// Pages of documents in the order of an indexed field, found by seeking and never by counting past.

import { type CursorPosition, readCursor, writeCursor } from '../../../daemon/kernel/store/list-cursor.ts'
import type { Doc, DocumentPage, ListQuery, Scalar, StoredFields } from '../../../daemon/kernel/store/store.ts'
import { type Cell, cellOf, isFixed, scalarOf } from './columns.ts'
import { allOf, type Clause, columnOf } from './filter.ts'
import { seenWhere } from './sight.ts'
import type { Row, Table } from './table.ts'

type Found = Row & { at: Cell }

/** A run of documents that one index range answers: a clause, and how to order within it. */
type Segment = Clause & { readonly order: string; readonly isAbsent?: true }

/**
 * Ties are broken by id in the same direction. A document without the field counts as smaller than any value: first
 * when ascending, last when descending. Ids and strings are ordered by their UTF-8 bytes.
 * @throws Refusal('malformed') for a foreign cursor; Error for a field that is no index, or a limit below 1.
 */
export function listPage<T extends StoredFields>(collection: string, table: Table, query: ListQuery): DocumentPage<T> {
  if (!Number.isInteger(query.limit) || query.limit < 1) throw new Error('a limit is a whole number from 1')
  const where = seenWhere(table, query.filter, query.read_scope)
  const column = query.order ? columnOf(table, query.order.field) : undefined
  const after = readCursor(collection, query)
  const isDescending = query.order?.direction === 'desc'
  const segments = column ? byField(column, isDescending, after, asksForValues(query)) : [byId(after)]
  const hint = hintOf(table, query)
  const found: Found[] = []
  for (const segment of segments) {
    const wanted = query.limit + 1 - found.length
    if (wanted > 0) found.push(...rowsOf(table, column, allOf([where, segment]), segment.order, wanted, hint))
  }
  const rows = found.slice(0, query.limit)
  const docs = rows.map((row) => docOf<T>(row))
  const last = rows.at(-1)
  if (!last || found.length <= query.limit) return { docs }
  return { docs, next_cursor: writeCursor(collection, query, { value: scalarOf(last.at), id: last.id }) }
}

export function docOf<T extends StoredFields>({ id, version, body }: Row): Doc<T> {
  return { id, version, value: JSON.parse(body) as T }
}

export function countOf(table: Table, where: Clause): number {
  return tally(table, 'NULL', where, '').at(0)?.count ?? 0
}

/** Documents per value of an index field; those without it are left out. */
export function countsBy(table: Table, field: string, where: Clause): Map<Scalar, number> {
  const column = columnOf(table, field)
  const rows = tally(table, column, where, `AND ${column} IS NOT NULL GROUP BY 1`, groupHint(table, field))
  return new Map(rows.map(({ at, count }) => [scalarOf(at) as Scalar, count]))
}

/** Documents per bucket, by the bucket's start; values that are no numbers are left out. */
export function bucketsOf(table: Table, field: string, interval: number, where: Clause): Map<number, number> {
  if (!(interval > 0 && Number.isFinite(interval))) throw new Error('an interval is a number above 0')
  const column = columnOf(table, field)
  const isNumber = `typeof(${column}) IN ('integer', 'real')`
  const bucket = { sql: `floor(${column} / ?)`, bind: [interval] }
  const rows = tally(
    table,
    bucket.sql,
    { ...where, bind: [...bucket.bind, ...where.bind] },
    `AND ${isNumber} GROUP BY 1`,
  )
  return new Map(rows.map(({ at, count }) => [Number(at) * interval, count]))
}

/** The declared order of a field and nothing but fixed columns is what its counts are read from, without any document. */
export function groupHint({ orders }: Table, field: string): string {
  const own = orders.find(({ fields: [first, ...rest] }) => first === field && rest.every(isFixed))
  return own ? `INDEXED BY ${own.index}` : ''
}

function tally(table: Table, of: string, where: Clause, rest: string, hint = ''): { at: Cell; count: number }[] {
  const sql = `SELECT ${of} AS at, count(*) AS count FROM ${table.name} ${hint} WHERE ${where.sql} ${rest}`
  return table.prepared(sql).all(...where.bind) as { at: Cell; count: number }[]
}

/**
 * The index of the declared order that fits best. SQLite knows nothing of how the values lie, and would rather walk a span
 * of the order field, however wide, than one value of another field in that order.
 */
export function hintOf({ orders }: Table, { filter = {}, order }: Pick<ListQuery, 'filter' | 'order'>): string {
  const isOneValue = (field: string) => filter[field] !== undefined && typeof filter[field] !== 'object'
  const best = orders.find(
    ({ fields }) => fields.at(-1) === order?.field && fields.slice(0, -1).every((field) => isOneValue(field)),
  )
  return best ? `INDEXED BY ${best.index}` : ''
}

function rowsOf(
  table: Table,
  column: string | undefined,
  where: Clause,
  order: string,
  limit: number,
  hint: string,
): Found[] {
  const sql = `SELECT id, version, body, ${column ?? 'NULL'} AS at FROM ${table.name} ${hint}
    WHERE ${where.sql} ORDER BY ${order} LIMIT ?`
  return table.prepared(sql).all(...where.bind, limit) as Found[]
}

function byId(after: CursorPosition | undefined): Segment {
  return after ? { sql: 'id > ?', bind: [after.id], order: 'id' } : { sql: '1', bind: [], order: 'id' }
}

/** Whether no document without the field that they are ordered by can be meant. */
function asksForValues({ filter, order }: ListQuery): boolean {
  const condition = order && filter?.[order.field]
  return condition !== undefined && (typeof condition !== 'object' || !('exists' in condition))
}

/** Documents without the field and documents with it are asked for apart: one range cannot hold NULL and values. */
function byField(
  column: string,
  isDescending: boolean,
  after: CursorPosition | undefined,
  hasValuesAlone: boolean,
): Segment[] {
  const segments = everySegment(column, isDescending, after)
  return hasValuesAlone ? segments.filter(({ isAbsent }) => !isAbsent) : segments
}

function everySegment(column: string, isDescending: boolean, after: CursorPosition | undefined): Segment[] {
  const direction = isDescending ? 'DESC' : 'ASC'
  const beyond = isDescending ? '<' : '>'
  const absent: Segment = { sql: `${column} IS NULL`, bind: [], order: `id ${direction}`, isAbsent: true }
  const present: Segment = { sql: `${column} IS NOT NULL`, bind: [], order: `${column} ${direction}, id ${direction}` }
  if (!after) return isDescending ? [present, absent] : [absent, present]
  if (after.value === null) {
    const rest: Segment = { ...absent, sql: `${absent.sql} AND id ${beyond} ?`, bind: [after.id] }
    return isDescending ? [rest] : [rest, present]
  }
  const sql = `(${column}, id) ${beyond} (?, ?)`
  const rest: Segment = { ...present, sql, bind: [cellOf(after.value), after.id] }
  return isDescending ? [rest, absent] : [rest]
}
