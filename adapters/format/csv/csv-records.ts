// Reads the complete CSV records of a window into columns. No value is copied.
import { isUtf8 } from 'node:buffer'
import { type CsvDialect, markByte } from '../../../daemon/kernel/data/csv-dialect.ts'
import type { DataBlock } from '../../../daemon/kernel/data/data-block.ts'
import { DataFault, describeForeignBytes } from '../../../daemon/kernel/data/data-fault.ts'
import { type DataReadOptions, max_record_bytes } from '../../../daemon/kernel/data/read-options.ts'
import type { TextWindow } from '../../../daemon/kernel/data/text-window.ts'
import { CsvColumns } from './csv-columns.ts'
import { carriageReturn, lineFeed } from './line-end.ts'
import { MarkFinder } from './mark-finder.ts'
import { faulty, incomplete, RecordScanner } from './record-scanner.ts'

export class CsvRecords {
  readonly #options: DataReadOptions
  readonly #window: TextWindow
  readonly #scanner: RecordScanner
  readonly #hasHeader: boolean
  readonly #delimiter: number
  readonly #quote: number
  readonly #comment: number
  readonly #finder = MarkFinder.ofThread()
  readonly #foreignBytes: string
  #columns: CsvColumns | undefined
  #rowsBefore = 0
  /** Line of the next record. */
  #line = 1
  /** Whether everything up to the next line end belongs to a record that was left out. */
  #isSkipping = false
  /** Whether the window has bytes that are not text, so that each record is checked. */
  #checksText = false
  readonly #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

  constructor(window: TextWindow, dialect: CsvDialect, options: DataReadOptions) {
    this.#options = options
    this.#window = window
    this.#scanner = new RecordScanner(dialect)
    this.#hasHeader = dialect.header
    this.#delimiter = markByte(dialect.delimiter)
    this.#quote = markByte(dialect.quote)
    this.#comment = markByte(dialect.comment)
    this.#foreignBytes = describeForeignBytes(dialect.encoding)
  }

  /** Prepares for the bytes that the window has now. */
  open(): void {
    const { bytes, end, lineEnd } = this.#window
    // The last record may end within a character.
    const text = bytes.subarray(0, bytes.lastIndexOf(lineEnd, end - 1) + 1)
    // The search of a Buffer is faster than that of other arrays.
    this.#checksText = !isUtf8(text) || Buffer.from(text.buffer, text.byteOffset, text.length).includes(0)
  }

  get isFull(): boolean {
    return this.#columns !== undefined && this.#columns.rows === this.#columns.max_rows
  }

  /** Reads complete records until the block is full; returns the start of the next one. Throws `DataFault`. */
  take(from: number): number {
    const { bytes, end, lineEnd } = this.#window
    this.#finder.begin(this.#delimiter, this.#quote, lineEnd, lineFeed)
    let at = from
    while (at < end && !this.isFull) {
      if (this.#isSkipping) at = this.#skipLine(at)
      else {
        if (this.#columns && !this.#checksText) at = this.#takePlain(this.#columns, bytes, at, end)
        if (at === end || this.isFull) break
        const next = this.#takeRecord(bytes, at, end)
        if (next === incomplete) break
        at = next
      }
    }
    return at
  }

  /** Reads records of unquoted fields, as long as they have no special case; returns the start of the first other one. */
  #takePlain(table: CsvColumns, bytes: Uint8Array, from: number, end: number): number {
    const { starts, ends, limits } = table
    const [delimiter, comment, finder] = [this.#delimiter, this.#comment, this.#finder]
    const [{ positions }, { lineEnd }, last] = [finder, this.#window, starts.length - 1]
    const room = Math.min(table.max_rows, this.#options.limits.rows - this.#rowsBefore)
    let [record, start, field, row] = [from, from, 0, table.rows]
    if (row >= room || bytes[from] === comment) return from
    let next = finder.seek(from)
    for (;;) {
      if (next === finder.count) {
        if (!finder.find(bytes, end)) break
        next = 0
      }
      const at = positions[next++]!
      const byte = bytes[at]!
      const isEnd = byte === lineEnd
      if (at - start > limits[field]! || (isEnd ? field !== last : byte !== delimiter || field === last)) break
      const valueEnd = byte === lineFeed && at > start && bytes[at - 1] === carriageReturn ? at - 1 : at
      const into = starts[field]
      if (into !== undefined) {
        const isMissing = valueEnd === start
        into[row] = isMissing ? -1 : start
        ends[field]![row] = isMissing ? -1 : valueEnd
      }
      if (isEnd && last === 0 && valueEnd === start) break
      start = at + 1
      field++
      if (!isEnd) continue
      field = 0
      record = start
      table.reserve(++row)
      if (row === room || bytes[start] === comment) break
    }
    finder.next = next
    table.addLines(row, this.#line)
    this.#line += row - table.rows
    table.rows = row
    return record
  }

  #takeRecord(bytes: Uint8Array, from: number, end: number): number {
    if (bytes[from] === this.#comment) return this.#takeComment(bytes, from, end)
    const scanner = this.#scanner
    const next = scanner.scan(bytes, from, end, this.#window.lineEnd)
    if (next === incomplete) return incomplete
    if (next === faulty) return this.#leaveOut(scanner.reason, from, scanner.at)
    const { fields, starts, ends } = scanner
    if (fields === 1 && starts[0] === -1) {
      this.#line++
      return next
    }
    const isHeader = !this.#columns && this.#hasHeader
    const fault =
      this.#findTextFault(bytes, from, next) ?? (isHeader ? undefined : this.#findFieldFault(bytes, from, next))
    if (fault !== undefined) return this.#leaveOut(fault, from, next - 1)
    const lines = this.#countLines(from, next)
    scanner.unescape(bytes)
    if (isHeader) this.#begin(bytes)
    else this.#columns?.add(starts, ends, this.#line)
    this.#line += lines
    return next
  }

  #takeComment(bytes: Uint8Array, from: number, end: number): number {
    const feed = bytes.indexOf(this.#window.lineEnd, from)
    if (feed < 0 || feed >= end) return incomplete
    this.#line++
    return feed + 1
  }

  /** Why the bytes of a scanned record are not text. */
  #findTextFault(bytes: Uint8Array, from: number, next: number): string | undefined {
    if (!this.#checksText) return undefined
    const record = bytes.subarray(from, next)
    return isUtf8(record) ? (record.includes(0) ? 'a NUL byte' : undefined) : this.#foreignBytes
  }

  /** Why a scanned record is not a row of the table. Without a header, the first record begins the table. */
  #findFieldFault(bytes: Uint8Array, from: number, next: number): string | undefined {
    const { fields, starts, ends } = this.#scanner
    const table = this.#columns ?? this.#begin(bytes)
    const width = table.names.length
    const origin = this.#hasHeader ? 'the first line names' : 'the first record has'
    if (fields > width) return `more than the ${width} fields that ${origin}`
    if (fields < width) return `${fields} fields, and ${origin} ${width}`
    const long = table.limits.findIndex((limit, field) => ends[field]! - starts[field]! > limit)
    if (long >= 0) return this.#describeLongField(long)
    const { rows } = this.#options.limits
    if (this.#rowsBefore + table.rows < rows) return undefined
    throw new DataFault(`more than ${rows} records`, this.#placeOf(from, next - 1))
  }

  #describeLongField(field: number): string {
    const name = this.#columns && this.#hasHeader ? `, ${JSON.stringify(this.#columns.names[field] ?? '')},` : ''
    return `field ${field + 1}${name} has more than ${this.#columns?.limits[field]} bytes`
  }

  #begin(bytes: Uint8Array): CsvColumns {
    const { fields, starts, ends } = this.#scanner
    const { limits } = this.#options
    const place = { line: this.#line, offset: 0 }
    if (fields > limits.names) throw new DataFault(`more than ${limits.names} columns`, place)
    const nameOf = (field: number) => {
      if (!this.#hasHeader) return `column_${field + 1}`
      return starts[field]! < 0 ? '' : this.#decoder.decode(bytes.subarray(starts[field], ends[field])).trim()
    }
    const names = Array.from({ length: fields }, (_, field) => nameOf(field))
    const rest = new Set(names)
    const repeated = names.find((name) => !rest.delete(name))
    if (repeated !== undefined) throw new DataFault(`two columns have the name ${JSON.stringify(repeated)}`, place)
    this.#columns = new CsvColumns(names, this.#options)
    return this.#columns
  }

  /** Reports the record from `from` with a fault at `at`; returns where reading resumes: at the next line. */
  #leaveOut(reason: string, from: number, at: number): number {
    const place = this.#placeOf(from, at)
    // Without the names of the columns nothing that follows can be read.
    if (!this.#options.onReject || !this.#columns) throw new DataFault(reason, place)
    this.#options.onReject({ reason, place }, this.#window.beginningOf(from))
    this.#line = place.line
    this.#isSkipping = true
    return at
  }

  #skipLine(from: number): number {
    const { bytes, end } = this.#window
    const feed = bytes.indexOf(this.#window.lineEnd, from)
    if (feed < 0 || feed >= end) return end
    this.#isSkipping = false
    this.#line++
    return feed + 1
  }

  #placeOf(from: number, at: number): { line: number; offset: number } {
    return { line: this.#line + this.#countLines(from, at), offset: this.#window.base + from }
  }

  /** Leaves out the record that fills the window; returns where reading resumes. Throws `DataFault`. */
  rejectLong(): number {
    const { bytes, end } = this.#window
    this.#scanner.scan(bytes, 0, end, this.#window.lineEnd)
    const { fields, starts } = this.#scanner
    const limit = this.#columns?.limits[fields] ?? Number.POSITIVE_INFINITY
    const isField = end - (starts[fields] ?? end) > limit
    // It resumes at the next line: a mark that nothing closes must not take other records with it.
    const reason = isField ? this.#describeLongField(fields) : `the record has more than ${max_record_bytes} bytes`
    return this.#leaveOut(reason, 0, 0)
  }

  /**
   * Ends the text. Returns where reading resumes, if the record from `from` on is incomplete: at its second line. Throws
   * `DataFault`.
   */
  end(from: number): number {
    if (from < this.#window.end) return this.#leaveOut('the file ends within quotation marks', from, from)
    if (this.#columns) return from
    throw new DataFault('the first line must name the columns, and the file has no line', { line: 1, offset: 0 })
  }

  /** Returns the rows since the last block. */
  block(): DataBlock {
    const block = this.#columns?.block(this.#window.bytes) ?? { rows: 0, names: [], columns: [] }
    this.#rowsBefore += block.rows
    if (this.#columns) this.#columns.rows = 0
    return block
  }

  #countLines(from: number, to: number): number {
    const { bytes, lineEnd } = this.#window
    let count = 0
    for (let at = bytes.indexOf(lineEnd, from); at >= 0 && at < to; at = bytes.indexOf(lineEnd, at + 1)) count++
    return count
  }
}
