// The rows of a table in a file of SQLite, by its pages (https://sqlite.org/fileformat2.html): nothing of the file is run.
import type { RangeSource } from '../../../daemon/kernel/data/byte-source.ts'
import { DataFault } from '../../../daemon/kernel/data/data-fault.ts'
import { max_record_bytes } from '../../../daemon/kernel/data/read-options.ts'

type RowId = number | bigint

export type SqliteRow = {
  readonly rowid: RowId
  /** Undefined for a row with more bytes than a record may have. */
  readonly record: Uint8Array | undefined
}

/** `end`: of what its page has of it. */
type PagedRow = SqliteRow & { readonly end: number }

type TreePage = {
  readonly bytes: Uint8Array
  readonly view: DataView
  readonly isLeaf: boolean
  /** Of the header of the tree: behind that of the file in the first page. */
  readonly start: number
  readonly cells: number
}

const magic = 'SQLite format 3\0'
const header_bytes = 100
const [min_page_bytes, max_page_bytes, min_usable_bytes] = [512, 65_536, 480]
const [interior, leaf] = [5, 13]
/** Version of the format of a file with a write-ahead log. */
const wal_version = 2
/** SQLite itself reads no tree that is deeper. */
const max_depth = 20
/** Unicode of the texts, by its number in the header. */
const encodings: readonly (string | undefined)[] = [undefined, 'utf-8', 'utf-16le', 'utf-16be']

export class SqlitePages {
  readonly #file: RangeSource
  readonly #page_bytes: number
  /** Without those that an extension keeps for itself. */
  readonly #usable_bytes: number
  /** Of the texts: a label of `TextDecoder`. */
  readonly encoding: string
  /** Whether a program may have left changes in another file beside it. */
  readonly hasWriteAheadLog: boolean
  #overflow_bytes = 0

  /** Throws `DataFault`, and what the file throws. */
  constructor(file: RangeSource) {
    const head = new Uint8Array(file.read(0, Math.min(header_bytes, file.size)))
    if (head.length < header_bytes || Buffer.from(head.subarray(0, magic.length)).toString('latin1') !== magic)
      throw new DataFault('damaged, or not a GeoPackage')
    const view = new DataView(head.buffer)
    const stated_bytes = view.getUint16(16)
    this.#file = file
    this.#page_bytes = stated_bytes === 1 ? max_page_bytes : stated_bytes
    this.#usable_bytes = this.#page_bytes - view.getUint8(20)
    const isPower = (this.#page_bytes & (this.#page_bytes - 1)) === 0
    if (!isPower || this.#page_bytes < min_page_bytes || this.#usable_bytes < min_usable_bytes)
      throw new DataFault(`damaged: its pages have ${this.#page_bytes} bytes`)
    const encoding = encodings[view.getUint32(56)]
    if (encoding === undefined) throw new DataFault('damaged: the encoding of its texts is unknown')
    this.encoding = encoding
    this.hasWriteAheadLog = view.getUint8(18) === wal_version
  }

  /**
   * The rows of the table that begins in this page, in the order of their ids. `onPage` is called before each page. Throws
   * `DataFault`: also where ids do not ascend, so that no page gives rows twice, and a small file no table without end.
   */
  *rows(root: number, onPage: () => void): Generator<SqliteRow, void, undefined> {
    const path = [{ page: this.#page(root, true), at: 0 }]
    let last: RowId | undefined
    for (let top = path.at(-1); top; top = path.at(-1)) {
      const { page } = top
      if (page.isLeaf || top.at > page.cells) {
        path.pop()
        if (!page.isLeaf) continue
        let used = 0
        for (let cell = 0; cell < page.cells; cell++) {
          const at = this.#cell(page, cell)
          const row = this.#row(page, at)
          // Rows that share bytes make a large table of a small page.
          used += row.end - at
          if (used > page.bytes.length) throw new DataFault('damaged: the rows of a page overlap')
          if (last !== undefined && row.rowid <= last) throw new DataFault('damaged: the ids of its rows do not ascend')
          last = row.rowid
          yield row
        }
        continue
      }
      const at = top.at++
      if (path.length === max_depth) throw new DataFault('damaged: a table is nested too deeply')
      onPage()
      // The last child is in the header.
      const child = at === page.cells ? page.start + 8 : this.#cell(page, at)
      path.push({ page: this.#page(page.view.getUint32(child), false), at: 0 })
    }
  }

  #bytes(number: number): Uint8Array {
    const end = number * this.#page_bytes
    if (number < 1 || end > this.#file.size)
      throw new DataFault('damaged, or cut: a page lies beyond the end of the file')
    return new Uint8Array(this.#file.read(end - this.#page_bytes, end)).subarray(0, this.#usable_bytes)
  }

  #page(number: number, isRoot: boolean): TreePage {
    const bytes = this.#bytes(number)
    const view = new DataView(bytes.buffer, 0, bytes.length)
    const start = number === 1 ? header_bytes : 0
    const [kind, cells] = [view.getUint8(start), view.getUint16(start + 3)]
    if (kind !== interior && kind !== leaf) throw new DataFault('damaged: a page is not of a table')
    const isLeaf = kind === leaf
    // A page without rows is the only one of its table: so each page that is visited gives a row.
    if ((cells === 0 && !isRoot) || start + (isLeaf ? 8 : 12) + cells * 2 > bytes.length)
      throw new DataFault('damaged: a page has no rows, or too many')
    return { bytes, view, isLeaf, start, cells }
  }

  /** Where the cell begins. */
  #cell({ view, isLeaf, start }: TreePage, at: number): number {
    const cell = view.getUint16(start + (isLeaf ? 8 : 12) + at * 2)
    if (cell + 4 > view.byteLength) throw new DataFault('damaged: a row lies beyond the end of its page')
    return cell
  }

  #row({ bytes, view }: TreePage, at: number): PagedRow {
    const length = readVarint(bytes, at)
    const id = readVarint(bytes, length.end)
    const [rowid, size] = [toSigned(id.value), Number(length.value)]
    // Numbers of the file format: what a page keeps of a row that has further pages.
    const max_local = this.#usable_bytes - 35
    const min_local = Math.floor(((this.#usable_bytes - 12) * 32) / 255) - 23
    const rest = min_local + ((size - min_local) % (this.#usable_bytes - 4))
    const local = size <= max_local ? size : rest <= max_local ? rest : min_local
    const end = id.end + local
    if (end + (local < size ? 4 : 0) > bytes.length)
      throw new DataFault('damaged: a row lies beyond the end of its page')
    if (local === size) return { rowid, record: bytes.subarray(id.end, end), end }
    // In a sound file no two rows have a page in common.
    this.#overflow_bytes += size
    if (this.#overflow_bytes > this.#file.size) throw new DataFault('damaged: its rows have more bytes than the file')
    if (size > max_record_bytes) return { rowid, record: undefined, end }
    const record = new Uint8Array(size)
    record.set(bytes.subarray(id.end, end))
    this.#readOverflow(record, local, view.getUint32(end))
    return { rowid, record, end }
  }

  #readOverflow(record: Uint8Array, start: number, first: number): void {
    for (let at = start, number = first; at < record.length; ) {
      const bytes = this.#bytes(number)
      const part = bytes.subarray(4, 4 + record.length - at)
      record.set(part, at)
      at += part.length
      number = new DataView(bytes.buffer).getUint32(0)
    }
  }
}

/** A number of up to nine bytes: seven bits of each, and all of the ninth. Throws `DataFault`. */
export function readVarint(bytes: Uint8Array, start: number): { readonly value: RowId; readonly end: number } {
  let value = 0
  let at = start
  for (; at < start + 7; at++) {
    const byte = bytes[at]
    if (byte === undefined) throw new DataFault('damaged: a number ends too early')
    value = value * 128 + (byte & 0x7f)
    if (byte < 0x80) return { value, end: at + 1 }
  }
  let long = BigInt(value)
  for (; at < start + 9; at++) {
    const byte = bytes[at]
    if (byte === undefined) throw new DataFault('damaged: a number ends too early')
    if (at === start + 8) return { value: (long << 8n) | BigInt(byte), end: at + 1 }
    long = (long << 7n) | BigInt(byte & 0x7f)
    if (byte < 0x80) return { value: long, end: at + 1 }
  }
  return { value: long, end: at }
}

function toSigned(value: RowId): RowId {
  return typeof value === 'number' ? value : BigInt.asIntN(64, value)
}
