// Reads the complete JSON lines of a window into columns.
import { isUtf8 } from 'node:buffer'
import { type DataBlock, maxBlockRows, TextColumnBuilder } from '../../../daemon/kernel/data/data-block.ts'
import { DataFault, type RecordPlace } from '../../../daemon/kernel/data/data-fault.ts'
import {
  type DataReadOptions,
  max_beginning_bytes,
  max_record_bytes,
} from '../../../daemon/kernel/data/read-options.ts'
import type { TextWindow } from '../../../daemon/kernel/data/text-window.ts'
import { FlatObject } from './flat-object.ts'
import { formatJsonValue, parseJsonRecord } from './json-record.ts'

const [lineFeed, carriageReturn, blank] = [10, 13, 32]

/** Lines of a block have so many bytes at most, besides the last one. */
const max_block_bytes = 16_777_216

/** Makes the record of the object of a line, or says what is wrong with it. */
export type RecordConversion = (item: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>> | string

export class JsonLines {
  readonly #window: TextWindow
  readonly #separator: string
  readonly #options: DataReadOptions
  readonly #toRecord: RecordConversion | undefined
  /** Column of each key; undefined for keys that are not selected. */
  readonly #columns = new Map<string, TextColumnBuilder | undefined>()
  readonly #encoder = new TextEncoder()
  #rows = 0
  #rowsBefore = 0
  #block_bytes = 0
  #lines: number[] = []
  #line = 1
  /** Whether everything up to the next line end belongs to a line that was left out. */
  #isSkipping = false
  /** Whether the next line has columns that the rows of the block would be too many for. */
  #isCut = false
  readonly #flat = new FlatObject()
  /** Columns of the names that flat lines have, with their limits. */
  #flatColumns: readonly (readonly [column: TextColumnBuilder | undefined, max_bytes: number])[] = []
  /** Whether the window is UTF-8, so that lines need not be checked one by one. */
  #isText = false

  constructor(window: TextWindow, separator: string, options: DataReadOptions, toRecord?: RecordConversion) {
    this.#window = window
    this.#toRecord = toRecord
    this.#separator = separator
    this.#options = options
  }

  get isFull(): boolean {
    const { block_rows = Number.POSITIVE_INFINITY } = this.#options
    return (
      this.#isCut ||
      this.#rows >= Math.min(block_rows, maxBlockRows(this.#columns.size)) ||
      this.#block_bytes >= max_block_bytes
    )
  }

  /** Prepares for the bytes that the window has now. */
  open(): void {
    const { bytes, end } = this.#window
    this.#isText = isUtf8(bytes.subarray(0, bytes.lastIndexOf(lineFeed, end - 1) + 1))
  }

  /** Reads complete lines until the block is full; returns the start of the next one. Throws `DataFault`. */
  take(from: number): number {
    const { bytes, end } = this.#window
    let at = from
    while (at < end && !this.isFull) {
      const feed = bytes.indexOf(lineFeed, at)
      if (feed < 0 || feed >= end) return this.#isSkipping ? end : at
      if (!this.#isSkipping && !this.#takeFlat(bytes, at, feed)) this.#takeLine(bytes.subarray(at, feed), at)
      if (this.#isCut) return at
      this.#isSkipping = false
      this.#line++
      at = feed + 1
    }
    return at
  }

  /** Adds a line that needs no parser; false for any other. */
  #takeFlat(bytes: Uint8Array, from: number, to: number): boolean {
    if (!this.#isText || this.#rowsBefore + this.#rows >= this.#options.limits.rows) return false
    if (!this.#flat.read(bytes, from, to)) return false
    const { starts, ends } = this.#flat
    const columns = this.#flatColumns
    for (let at = 0; at < columns.length; at++)
      if (ends[at]! - starts[at]! > columns[at]![1] && starts[at]! >= 0) return false
    for (let at = 0; at < columns.length; at++) {
      const start = starts[at]!
      if (start >= 0) columns[at]![0]?.addRange(this.#rows, bytes, start, ends[at]!)
    }
    if (this.#options.hasLines) this.#lines.push(this.#line)
    this.#rows++
    this.#block_bytes += to - from
    return true
  }

  /** The lines that follow are likely to have these names. */
  #expectNames(names: readonly string[]): void {
    this.#flat.expect(names)
    this.#flatColumns = names.map((name) => [this.#columns.get(name), this.#options.limits.maxFieldBytes(name)])
  }

  #takeLine(line: Uint8Array, at: number): void {
    if (line.every((byte) => byte === blank || byte === carriageReturn)) return
    const parsed = parseJsonRecord(line)
    const record = typeof parsed === 'string' || !this.#toRecord ? parsed : this.#toRecord(parsed)
    const fault = typeof record === 'string' ? record : this.#addRecord(record, at)
    // The line is read again in the next block.
    if (this.#isCut) return
    if (fault !== undefined) this.#leaveOut(fault, at, line)
    else this.#block_bytes += line.length
  }

  /** Returns what is wrong with the record, of which nothing is added then. */
  #addRecord(record: Readonly<Record<string, unknown>>, at: number): string | undefined {
    const { limits } = this.#options
    if (this.#rowsBefore + this.#rows === limits.rows) throw this.#fault(`more than ${limits.rows} records`, at)
    const values: [TextColumnBuilder, string | undefined][] = []
    for (const [name, value] of Object.entries(record)) {
      const column = this.#columnOf(name, at)
      if (!column) continue
      const formatted = formatJsonValue(value, this.#separator)
      if (this.#options.isOptional?.(name)) {
        values.push([column, 'fault' in formatted ? JSON.stringify(value) : formatted.text])
        continue
      }
      if ('fault' in formatted) return `${JSON.stringify(name)} is ${formatted.fault}`
      const max_bytes = limits.maxFieldBytes(name)
      if (this.#isLong(formatted.text, max_bytes)) return `${JSON.stringify(name)} has more than ${max_bytes} bytes`
      values.push([column, formatted.text])
    }
    if (this.#isCut) return undefined
    for (const [column, text] of values) {
      column.skipTo(this.#rows)
      column.add(text)
    }
    if (this.#options.hasLines) this.#lines.push(this.#line)
    this.#rows++
    // A line that is converted has other names than its record.
    if (!this.#toRecord) this.#expectNames(Object.keys(record))
    return undefined
  }

  #isLong(text: string | undefined, max_bytes: number): boolean {
    return text !== undefined && text.length * 3 > max_bytes && this.#encoder.encode(text).length > max_bytes
  }

  #columnOf(name: string, at: number): TextColumnBuilder | undefined {
    const { limits, isSelected } = this.#options
    if (!this.#columns.has(name)) {
      if (this.#columns.size === limits.names) throw this.#fault(`more than ${limits.names} different keys`, at)
      this.#isCut ||= this.#rows > 0 && this.#rows >= maxBlockRows(this.#columns.size + 1)
      if (this.#isCut) return undefined
      this.#columns.set(name, isSelected(name) ? new TextColumnBuilder(name) : undefined)
    }
    return this.#columns.get(name)
  }

  #fault(reason: string, at: number): DataFault {
    return new DataFault(reason, this.#placeOf(at))
  }

  #placeOf(at: number): RecordPlace {
    return { line: this.#line, offset: this.#window.base + at }
  }

  #leaveOut(reason: string, at: number, line: Uint8Array): void {
    if (!this.#options.onReject) throw this.#fault(reason, at)
    this.#options.onReject({ reason, place: this.#placeOf(at) }, line.subarray(0, max_beginning_bytes))
  }

  /** Leaves out the line that fills the window; returns where reading resumes. Throws `DataFault`. */
  rejectLong(): number {
    this.#leaveOut(`the line has more than ${max_record_bytes} bytes`, 0, this.#window.bytes)
    this.#isSkipping = true
    return this.#window.end
  }

  /** Removes the rows of the last block. */
  clear(): void {
    for (const column of this.#columns.values()) column?.clear()
    this.#rowsBefore += this.#rows
    this.#rows = 0
    this.#lines = []
    this.#block_bytes = 0
    this.#isCut = false
  }

  /** Returns the rows since `clear`. */
  block(): DataBlock {
    const selected = [...this.#columns.values()].filter((column) => column !== undefined)
    for (const column of selected) column.skipTo(this.#rows)
    const columns = selected.map((column) => column.column())
    const lines = this.#options.hasLines ? { lines: Int32Array.from(this.#lines) } : {}
    return { rows: this.#rows, names: [...this.#columns.keys()], columns, ...lines }
  }
}
