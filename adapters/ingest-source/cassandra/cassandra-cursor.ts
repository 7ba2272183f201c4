// The rows of a table of Cassandra at or above a value of one column, which are compared by their values as Cassandra compares them.
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
import { notCassandra } from './cql-frame.ts'
import { describeInstant, integerOf } from './cql-value.ts'

/** By the names of types in the schema. */
const types: ReadonlyMap<string, CursorType> = new Map([
  ...(['tinyint', 'smallint', 'int', 'bigint', 'varint'] as const).map((name) => [name, 'integer'] as const),
  ...([
    ['timestamp', 'timestamp'],
    ['text', 'text'],
    ['ascii', 'text'],
  ] as const),
])

/** Follows the values of the cursor column. */
export class ColumnOrder {
  readonly #cursor: RowCursor
  readonly #type: CursorType
  readonly #start: bigint | Buffer | undefined
  #end: bigint | Buffer | undefined

  /** Throws `RowSourceError` where the column cannot be the cursor. */
  constructor(cursor: RowCursor, type_name: string) {
    const type = types.get(type_name)
    if (type === undefined) throw refuseCursorType(cursor, type_name.slice(0, 64).toWellFormed())
    checkCursorType(cursor, type)
    this.#cursor = cursor
    this.#type = type
    this.#start = cursor.from && boundOf(cursor.from)
  }

  /** Throws `RowSourceError` where there is none. */
  #read(bytes: Buffer | undefined): bigint | Buffer {
    const isText = this.#type === 'text'
    if (bytes === undefined || (!isText && bytes.length === 0)) throw refuseMissingValues(this.#cursor)
    return isText ? bytes : integerOf(bytes)
  }

  /** Takes the value of any row. */
  look(bytes: Buffer | undefined): void {
    const value = this.#read(bytes)
    if (this.#end === undefined || compare(value, this.#end) > 0) this.#end = value
  }

  /** The condition of the rows up to the greatest value that was seen; undefined where none of them is wanted. */
  condition(quoted: string): string | undefined {
    const end = this.#end
    if (end === undefined || (this.#start !== undefined && compare(end, this.#start) < 0)) return undefined
    checkCursorValue(this.#cursor, this.#describe(end))
    const from = this.#start === undefined ? '' : ` AND ${quoted} >= ${literal(this.#start)}`
    this.#end = undefined
    return `${quoted} <= ${literal(end)}${from} ALLOW FILTERING`
  }

  /** Takes the value of a row that is read. */
  take(bytes: Buffer | undefined): void {
    const value = this.#read(bytes)
    const difference = this.#end === undefined ? 1 : compare(value, this.#end)
    if (this.#start !== undefined && compare(value, this.#start) === 0) {
      if (difference > 0) this.#end = value
      this.#cursor.onRow('start')
      return
    }
    if (difference > 0) this.#end = value
    this.#cursor.onRow(difference > 0 ? 'new_end' : difference === 0 ? 'end' : 'between')
  }

  finish(): void {
    if (this.#end !== undefined) this.#cursor.onEnd(checkCursorValue(this.#cursor, this.#describe(this.#end)))
  }

  #describe(value: bigint | Buffer): CursorValue {
    if (typeof value !== 'bigint') return { type: 'text', value: value.toString() }
    if (this.#type === 'integer') return { type: 'integer', value: String(value) }
    return { type: 'timestamp', value: describeInstant(value).replaceAll('"', '') }
  }
}

function boundOf({ type, value }: CursorValue): bigint | Buffer {
  if (type === 'text') return Buffer.from(value)
  return type === 'integer' ? BigInt(value) : BigInt(new Date(value).getTime())
}

/** Numbers by their size, texts by their bytes. */
function compare(one: bigint | Buffer, other: bigint | Buffer): number {
  if (typeof one === 'bigint' && typeof other === 'bigint') return one > other ? 1 : one === other ? 0 : -1
  if (typeof one === 'bigint' || typeof other === 'bigint') throw notCassandra()
  return Buffer.compare(one, other)
}

/** An instant is its milliseconds. */
function literal(value: bigint | Buffer): string {
  if (typeof value === 'bigint') return String(value)
  const text = value.toString()
  if (Buffer.compare(Buffer.from(text), value) !== 0)
    throw new RowSourceError('the greatest value of the cursor column is not a text of UTF-8')
  return `'${text.replaceAll("'", "''")}'`
}
