// The values of a row in a file of SQLite ("Record Format" of its file format), each read when it is wanted.
import { DataFault } from '../../../daemon/kernel/data/data-fault.ts'
import { readVarint } from './sqlite-pages.ts'

/** Undefined for NULL; bytes for a BLOB. */
export type SqliteValue = number | bigint | string | Uint8Array | undefined

/** By the encoding of the file; throws where the bytes are not of it. */
export type TextDecoding = (bytes: Uint8Array) => string

/** SQLite itself allows no more. */
export const max_columns = 32_767

/** Bytes of integers by their serial type. */
const integer_bytes = [0, 1, 2, 3, 4, 6, 8] as const
const [double_type, zero_type, one_type, first_blob_type] = [7, 8, 9, 12]

export class SqliteRecord {
  readonly #bytes: Uint8Array
  readonly #decode: TextDecoding
  readonly #types: number[] = []
  readonly #starts: number[] = []

  /** Throws `DataFault` for a damaged record. */
  constructor(bytes: Uint8Array, decode: TextDecoding) {
    this.#bytes = bytes
    this.#decode = decode
    const header = readVarint(bytes, 0)
    const head_bytes = Number(header.value)
    let start = head_bytes
    for (let at = header.end; at < head_bytes; ) {
      if (this.#types.length === max_columns) throw new DataFault('damaged: a row has too many values')
      const { value, end } = readVarint(bytes, at)
      const type = Number(value)
      this.#types.push(type)
      this.#starts.push(start)
      start += bytesOf(type)
      at = end
    }
    if (start > bytes.length) throw new DataFault('damaged: a row has less bytes than its values')
  }

  /** Number of stored values. A column that was added after the row has none. */
  get length(): number {
    return this.#types.length
  }

  /** Throws `DataFault` for a text that is not of the encoding. */
  value(column: number): SqliteValue {
    const [type = 0, start = 0] = [this.#types[column], this.#starts[column]]
    const view = new DataView(this.#bytes.buffer, this.#bytes.byteOffset + start, bytesOf(type))
    if (type === 0) return undefined
    if (type === zero_type || type === one_type) return type - zero_type
    if (type === double_type) return readDouble(view)
    if (type < double_type) return readInteger(view)
    const bytes = this.#bytes.subarray(start, start + view.byteLength)
    return type % 2 === 0 ? bytes : this.#text(bytes)
  }

  #text(bytes: Uint8Array): string {
    try {
      return this.#decode(bytes)
    } catch {
      throw new DataFault('bytes that are not Unicode')
    }
  }
}

function bytesOf(type: number): number {
  if (type >= first_blob_type) return Math.floor((type - first_blob_type) / 2)
  if (type > one_type) throw new DataFault('damaged: a value is of an unknown type')
  return integer_bytes[type] ?? (type === double_type ? 8 : 0)
}

/** What is not a number is NULL, as SQLite has it. */
function readDouble(view: DataView): number | undefined {
  const value = view.getFloat64(0)
  return Number.isNaN(value) ? undefined : value
}

function readInteger(view: DataView): number | bigint {
  switch (view.byteLength) {
    case 1:
      return view.getInt8(0)
    case 2:
      return view.getInt16(0)
    case 3:
      return view.getInt8(0) * 65_536 + view.getUint16(1)
    case 4:
      return view.getInt32(0)
    case 6:
      return view.getInt16(0) * 4_294_967_296 + view.getUint32(2)
    default:
      return view.getBigInt64(0)
  }
}
