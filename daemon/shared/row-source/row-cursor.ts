// Reading what is new: the rows at or above a value of one column, and where each of them stands between both ends.
import type { CursorType } from '../../kernel/data/landed-dataset.ts'
import { nameSome, RowSourceError } from './row-source.ts'

/** A value as the source writes it, with all its digits. */
export type CursorValue = { readonly type: CursorType; readonly value: string }

/**
 * `start`: the row has the value at which the reading begins; `end`: the greatest value of all rows so far; `new_end`: a greater one than
 * each row before it; `between`: any other. Values are compared by the source, which alone knows which are equal.
 */
export type RowPlace = 'start' | 'between' | 'end' | 'new_end'

export type RowCursor = {
  /** Has a value in every row. */
  readonly column: string
  /** Absent: all rows. */
  readonly from?: CursorValue | undefined
  /** Takes the place of each row, in their order, before the block that has the row. */
  readonly onRow: (place: RowPlace) => void
  /** Takes the greatest value before the reading ends; not where no row was read. */
  readonly onEnd: (end: CursorValue) => void
}

/** Of a value in a description of a dataset. */
const max_value_characters = 1_024

const patterns: Readonly<Record<Exclude<CursorType, 'text'>, RegExp>> = {
  integer: /^-?\d{1,40}$/,
  decimal: /^-?\d{1,400}(?:\.\d{1,400})?$/,
  date: /^(?!0000)\d{4}-\d\d-\d\d$/,
  local_timestamp: /^(?!0000)\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d{1,9})?$/,
  timestamp: /^(?!0000)\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|\+00)?$/,
}

/**
 * Refuses an end after which nothing would be found: infinity, what is not a number, a year of five digits. Throws
 * `RowSourceError`.
 */
export function checkCursorValue({ column }: RowCursor, { type, value }: CursorValue): CursorValue {
  if (value.length > max_value_characters)
    throw new RowSourceError(
      `the greatest value of the cursor column ${nameSome([column])} has more than ${max_value_characters} characters`,
    )
  if (type === 'text' ? value.isWellFormed() : patterns[type].test(value)) return { type, value }
  throw new RowSourceError(
    `the greatest value of the cursor column ${nameSome([column])} is ${nameSome([value])}, from which no reading can go on`,
  )
}

/** Throws `RowSourceError` where the column has another type than when the cursor was stored. */
export function checkCursorType({ column, from }: RowCursor, type: CursorType): void {
  if (from === undefined || from.type === type) return
  throw new RowSourceError(
    `the cursor column ${nameSome([column])} is of the type ${type} now, and was ${from.type}: begin again with another cursor_generation`,
  )
}

export function refuseCursorType({ column }: RowCursor, type: string): RowSourceError {
  return new RowSourceError(
    `the column ${nameSome([column])} cannot be the cursor: it has values of the type ${type}; a cursor column has integers, decimal numbers, dates, timestamps or texts`,
  )
}

/** A row without a value would be left out by every reading. */
export function refuseMissingValues({ column }: RowCursor): RowSourceError {
  return new RowSourceError(
    `the column ${nameSome([column])} cannot be the cursor: a row has no value in it, and would never be read`,
  )
}
