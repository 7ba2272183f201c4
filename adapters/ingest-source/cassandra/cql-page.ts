// A page of rows of Cassandra: the bytes of each value, and the types of its columns.
import { type CqlFrame, notCassandra, opcode } from './cql-frame.ts'
import { type CqlType, readType } from './cql-value.ts'

export type CqlColumn = { readonly name: string; readonly type: CqlType }
export type CqlRow = readonly (Buffer | undefined)[]
export type CqlPage = {
  readonly columns: readonly CqlColumn[]
  readonly rows: readonly CqlRow[]
  /** Of all values. */
  readonly bytes: number
  /** Absent where it is the last one. */
  readonly page_state?: Buffer | undefined
}

const rows_kind = 2
const flag = { one_table: 1, more_pages: 2, no_columns: 4 }
const max_columns = 2_000
/** Of a page: more than the most rows that are requested of the most columns. */
const max_values = 200_000

/** Throws `RowSourceError` where the answer has no rows. */
export function readPage({ opcode: code, body }: CqlFrame): CqlPage {
  if (code !== opcode.result || body.int() !== rows_kind) throw notCassandra()
  const flags = body.int()
  const count = body.int()
  if (count < 1 || count > max_columns || (flags & flag.no_columns) !== 0) throw notCassandra()
  const hasMore = (flags & flag.more_pages) !== 0
  const page_state = hasMore ? body.bytes() : undefined
  // Rows that cannot be requested would be missing without a word.
  if (hasMore && page_state === undefined) throw notCassandra()
  const readTable = () => [body.string(), body.string()]
  if ((flags & flag.one_table) !== 0) readTable()
  const described = { types: 0 }
  const columns = Array.from({ length: count }, () => {
    if ((flags & flag.one_table) === 0) readTable()
    return { name: body.string(), type: readType(body, described) }
  })
  const row_count = body.int()
  // Each value has a length of its own.
  if (row_count < 0 || row_count * count > max_values || row_count * count * 4 > body.left) throw notCassandra()
  const bytes = body.left
  const rows = Array.from({ length: row_count }, () => Array.from({ length: count }, () => body.bytes()))
  return { columns, rows, bytes, page_state }
}
