// The documents of an index at or above a value of one field: the server sorts by it, and gives the value by which each is sorted.
import * as z from 'zod'
import type { CursorType } from '../../../daemon/kernel/data/landed-dataset.ts'
import {
  type CursorValue,
  checkCursorType,
  checkCursorValue,
  type RowCursor,
  refuseCursorType,
  refuseMissingValues,
} from '../../../daemon/shared/row-source/row-cursor.ts'
import { RowSourceError } from '../../../daemon/shared/row-source/row-source.ts'

/** `format`: of bounds. An instant is sorted as milliseconds since 1970, whatever its documents have. */
export type IndexFieldType = { readonly type: CursorType; readonly format?: string }

const types: Readonly<Record<string, CursorType>> = {
  ...{ byte: 'integer', short: 'integer', integer: 'integer', long: 'integer', date: 'integer', keyword: 'text' },
}

export const fieldMapping = z.record(
  z.string(),
  z.looseObject({
    mappings: z.record(
      z.string(),
      z.looseObject({ mapping: z.record(z.string(), z.looseObject({ type: z.string().max(64).default('object') })) }),
    ),
  }),
)

/** The type of the field in all indexes behind a name. Throws `RowSourceError`. */
export function findFieldType(found: z.infer<typeof fieldMapping>, cursor: RowCursor): IndexFieldType {
  const indexes = Object.values(found).map(({ mappings }) => mappings[cursor.column])
  const names = new Set(indexes.flatMap((each) => Object.values(each?.mapping ?? {}).map(({ type }) => type)))
  if (names.size === 0 || indexes.some((each) => each === undefined))
    throw new RowSourceError(`the index has no field ${JSON.stringify(cursor.column.slice(0, 64))}`)
  const [name = ''] = names
  const type = types[name]
  if (names.size > 1 || type === undefined) throw refuseCursorType(cursor, [...names].toSorted().join(' and '))
  checkCursorType(cursor, type)
  return { type, ...(name === 'date' && { format: 'epoch_millis' }) }
}

/** Matches documents without a value, of which a search finds one at most. */
export function missingQuery({ column }: RowCursor) {
  const query = { bool: { must_not: [{ exists: { field: column } }] } }
  return { size: 1, _source: false, query }
}

export function refuseMissing(found: readonly unknown[], cursor: RowCursor): void {
  if (found.length > 0) throw refuseMissingValues(cursor)
}

/** Documents in the order of the field; of a field with several values the greatest counts. */
export function rangeQuery({ column, from }: RowCursor, { type, format }: IndexFieldType) {
  const bound = from && { gte: type === 'integer' ? integerOf(from.value) : from.value, ...(format && { format }) }
  return {
    sort: [{ [column]: { order: 'asc', mode: 'max' } }],
    query: bound ? { range: { [column]: bound } } : { match_all: {} },
  }
}

/** As a number of JSON with all its digits. */
function integerOf(value: string): unknown {
  const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown }
  return rawJSON(value)
}

/** Follows the values by which documents are sorted. */
export class FieldOrder {
  readonly #cursor: RowCursor
  readonly #type: CursorType
  #end: CursorValue | undefined

  constructor(cursor: RowCursor, { type }: IndexFieldType) {
    this.#cursor = cursor
    this.#type = type
  }

  /** `sort`: of the next document. */
  take(sort: readonly unknown[]): void {
    const value = String(sort[0])
    if (sort.length === 0 || sort[0] === null)
      throw new RowSourceError('the server does not answer as a search server does')
    const isSame = this.#end?.value === value
    if (!isSame) this.#end = checkCursorValue(this.#cursor, { type: this.#type, value })
    this.#cursor.onRow(value === this.#cursor.from?.value ? 'start' : isSame ? 'end' : 'new_end')
  }

  finish(): void {
    if (this.#end) this.#cursor.onEnd(this.#end)
  }
}
