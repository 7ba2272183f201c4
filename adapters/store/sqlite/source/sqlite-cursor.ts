// The rows of a table of a SQLite file at or above a value of one column: values are compared by SQLite, as their bytes are.
import type Database from 'better-sqlite3'
import type { CursorType } from '../../../../daemon/kernel/data/landed-dataset.ts'
import {
  type CursorValue,
  checkCursorType,
  checkCursorValue,
  type RowCursor,
  type RowPlace,
  refuseCursorType,
  refuseMissingValues,
} from '../../../../daemon/shared/row-source/row-cursor.ts'

/** `place`: an expression of SQL that is a number of `sqlitePlaces`. Both have the parameters. */
export type SqliteRange = {
  readonly place: string
  readonly where: string
  readonly parameters: readonly { readonly start: string | bigint | null; readonly end: string | bigint }[]
  readonly end: CursorValue
}

/** By number. */
export const sqlitePlaces: readonly RowPlace[] = ['between', 'start', 'end']

const typesByStorage: Readonly<Record<string, CursorType>> = { integer: 'integer', text: 'text' }

/** `table`, `column`: quoted, and a plain table with this column. Undefined where no row is there. Throws `RowSourceError`. */
export function findSqliteRange(
  db: Database.Database,
  table: string,
  column: string,
  cursor: RowCursor,
): SqliteRange | undefined {
  const type = findType(db, table, column, cursor)
  if (type === undefined) return undefined
  checkCursorType(cursor, type)
  // Without the affinity and the collation of the column: as the value is, by its bytes.
  const value = `(+${column} COLLATE BINARY)`
  const start = cursor.from === undefined ? null : type === 'integer' ? BigInt(cursor.from.value) : cursor.from.value
  const from = start === null ? '' : ` WHERE ${value} >= ?`
  const greatest = `SELECT max(${value}) FROM ${table} NOT INDEXED${from}`
  const given = start === null ? [] : [start]
  const end = db.prepare<unknown[], string | bigint | null>(greatest).pluck().get(given)
  if (end === null || end === undefined) return undefined
  const checked = checkCursorValue(cursor, { type, value: String(end) })
  // A text of a hostile file may be no Unicode, and is another one then.
  const isSame =
    type === 'integer' ||
    db
      .prepare(`SELECT (${greatest}) = ?`)
      .pluck()
      .get([...given, end]) === 1n
  if (!isSame) throw refuseCursorType(cursor, 'text that is not Unicode')
  return {
    place: `CASE WHEN ${value} = @start THEN 1 WHEN ${value} = @end THEN 2 ELSE 0 END`,
    where: `${value} <= @end${start === null ? '' : ` AND ${value} >= @start`}`,
    ...{ parameters: [{ start, end }], end: checked },
  }
}

/** The one type of all values. A column may have values of several in SQLite, which have no order that a reader would expect. */
function findType(db: Database.Database, table: string, column: string, cursor: RowCursor): CursorType | undefined {
  const found = db.prepare<[], string>(`SELECT DISTINCT typeof(${column}) FROM ${table} NOT INDEXED`).pluck().all()
  const [storage, ...others] = found
  if (storage === undefined) return undefined
  if (found.includes('null')) throw refuseMissingValues(cursor)
  const type = typesByStorage[storage]
  if (others.length > 0 || type === undefined) throw refuseCursorType(cursor, found.toSorted().join(' and '))
  return type
}
