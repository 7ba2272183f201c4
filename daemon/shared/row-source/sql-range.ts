// The rows of a table of SQL from a value of one column up to its greatest one: the server compares the values.
import type { CursorType } from '../../kernel/data/landed-dataset.ts'
import {
  type CursorValue,
  checkCursorType,
  checkCursorValue,
  type RowCursor,
  refuseMissingValues,
} from './row-cursor.ts'

/** `place`: an expression of SQL, the number of the place of a row. */
export type SqlRange = { readonly place: string; readonly where: string; readonly end: CursorValue }

export type SqlOrder = {
  readonly type: CursorType
  /** What is compared: an expression of SQL. */
  readonly value: string
  /** Of a value for which the pattern of its type holds; one end of the range, or the other. */
  readonly literal: (value: CursorValue, end: 'start_at' | 'upto') => string
}

export type SqlQuestions = {
  /** Whether a row has no value. */
  hasMissing(): Promise<boolean>
  /** The greatest value of the rows: a text, or null without rows. `where`: a condition of SQL. */
  findGreatest(where: string): Promise<string | null>
}

/** Undefined where no row is there. Throws `RowSourceError`. */
export async function findSqlRange(
  cursor: RowCursor,
  order: SqlOrder,
  { hasMissing, findGreatest }: SqlQuestions,
): Promise<SqlRange | undefined> {
  checkCursorType(cursor, order.type)
  const { value, literal } = order
  const start = cursor.from && literal(checkCursorValue(cursor, cursor.from), 'start_at')
  if (await hasMissing()) throw refuseMissingValues(cursor)
  const found = await findGreatest(start === undefined ? '' : ` WHERE ${value} >= ${start}`)
  if (found === null) return undefined
  const end = checkCursorValue(cursor, { type: order.type, value: found })
  const upTo = literal(end, 'upto')
  const isStart = start === undefined ? '' : `WHEN ${value} = ${start} THEN 1 `
  return {
    place: `CASE ${isStart}WHEN ${value} = ${upTo} THEN 2 ELSE 0 END`,
    where: `${value} <= ${upTo}${start === undefined ? '' : ` AND ${value} >= ${start}`}`,
    end,
  }
}
