// Reads JSON lines incrementally: one object a line, with keys in any order; a line may lack keys.
import { ColumnBuilder } from './column-builder.ts'
import { type CsvLimits, DataFault, getFieldLimit, type RawColumn } from './csv.ts'

/** Limits of a file. `line_bytes`: maximum bytes of a line. `names`: maximum number of different keys in all lines. */
export type JsonLinesLimits = CsvLimits & { readonly line_bytes: number }

const [lineFeed, carriageReturn, blank] = [10, 13, 32]
const byte_order_mark = '\ufeff'

/** Reads bytes passed to `push`; `finish` returns the columns. Reads values of selected keys only. */
export class JsonLinesReader {
  readonly #limits: JsonLinesLimits
  readonly #isSelected: (name: string) => boolean
  readonly #separator: string
  /** Column of each key; undefined for keys that are not selected. */
  readonly #columns = new Map<string, ColumnBuilder | undefined>()
  readonly #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  #rows = 0
  #line = 1
  /** The line so far, if it is not contiguous in the current chunk. */
  #buffer = new Uint8Array(1 << 12)
  #length = 0

  /** `separator`: joins the items of a list of plain values. */
  constructor(limits: JsonLinesLimits, isSelected: (name: string) => boolean, separator: string) {
    this.#limits = limits
    this.#isSelected = isSelected
    this.#separator = separator
  }

  /** Reads a chunk. Throws `DataFault`. */
  push(bytes: Uint8Array): void {
    let from = 0
    for (let end = bytes.indexOf(lineFeed); end >= 0; end = bytes.indexOf(lineFeed, from)) {
      const isWhole = this.#length === 0 && end - from <= this.#limits.line_bytes
      if (!isWhole) this.#append(bytes.subarray(from, end))
      this.#endLine(isWhole ? bytes.subarray(from, end) : this.#buffer.subarray(0, this.#length))
      this.#length = 0
      from = end + 1
    }
    if (from < bytes.length) this.#append(bytes.subarray(from))
  }

  #append(part: Uint8Array): void {
    const length = this.#length + part.length
    if (length > this.#limits.line_bytes) {
      throw new DataFault(this.#line, `the line has more than ${this.#limits.line_bytes} bytes`)
    }
    if (length > this.#buffer.length) {
      const wider = new Uint8Array(length * 2)
      wider.set(this.#buffer.subarray(0, this.#length))
      this.#buffer = wider
    }
    this.#buffer.set(part, this.#length)
    this.#length = length
  }

  #endLine(bytes: Uint8Array): void {
    if (bytes.some((byte) => byte !== blank && byte !== carriageReturn)) this.#addRecord(this.#objectIn(bytes))
    this.#line++
  }

  #objectIn(bytes: Uint8Array): Readonly<Record<string, unknown>> {
    const text = this.#textOf(bytes)
    let value: unknown
    try {
      const unmarked = this.#line === 1 && text.startsWith(byte_order_mark) ? text.slice(1) : text
      value = longNumberPattern.test(text) ? JSON.parse(unmarked, reviveLongNumber) : JSON.parse(unmarked)
    } catch {
      throw new DataFault(this.#line, 'the line is not JSON')
    }
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
    throw new DataFault(
      this.#line,
      'the line is not an object: write each record as a line such as {"id": "1", "name": "Ann"}',
    )
  }

  #textOf(bytes: Uint8Array): string {
    try {
      return this.#decoder.decode(bytes)
    } catch {
      throw new DataFault(this.#line, 'bytes that are not UTF-8')
    }
  }

  #addRecord(record: Readonly<Record<string, unknown>>): void {
    if (this.#rows === this.#limits.rows) throw new DataFault(this.#line, `more than ${this.#limits.rows} records`)
    for (const [name, value] of Object.entries(record)) {
      const text = this.#columnOf(name) && this.#formatValue(name, value)
      if (text) this.#columns.get(name)?.set(this.#rows, text)
    }
    this.#rows++
  }

  #columnOf(name: string): ColumnBuilder | undefined {
    if (!this.#columns.has(name)) {
      if (this.#columns.size === this.#limits.names) {
        throw new DataFault(this.#line, `more than ${this.#limits.names} different keys`)
      }
      this.#columns.set(name, this.#isSelected(name) ? new ColumnBuilder(name) : undefined)
    }
    return this.#columns.get(name)
  }

  /** Formats a value as text; empty for null, which counts as missing. */
  #formatValue(name: string, value: unknown): string {
    const isPlain = (item: unknown) => typeof item !== 'object' || item === null
    if (Array.isArray(value) && value.every(isPlain)) {
      return this.#checkLength(name, value.filter((item) => item !== null).join(this.#separator))
    }
    if (isPlain(value)) return value === null ? '' : this.#checkLength(name, String(value))
    const kind = Array.isArray(value) ? 'a nested list' : 'an object'
    throw new DataFault(
      this.#line,
      `${JSON.stringify(name)} is ${kind}, which is not supported: write its values under keys of the record`,
    )
  }

  #checkLength(name: string, text: string): string {
    const max_bytes = getFieldLimit(this.#limits, name)
    if (text.length * 3 <= max_bytes || new TextEncoder().encode(text).length <= max_bytes) return text
    throw new DataFault(this.#line, `${JSON.stringify(name)} has more than ${max_bytes} bytes`)
  }

  /** Returns the selected columns that occurred at least once. Throws `DataFault`. */
  finish(): { names: readonly string[]; rows: number; columns: readonly RawColumn[] } {
    if (this.#length > 0) this.push(Uint8Array.of(lineFeed))
    const columns = [...this.#columns.values()].flatMap((column) => (column ? [column.finish(this.#rows)] : []))
    return { names: [...this.#columns.keys()], rows: this.#rows, columns }
  }
}

/** Matches lines that may have a number that changes when parsed; cheaper than a check of each number. */
const longNumberPattern = /\d{16}|\d[eE]/

/** Keeps a number with more digits than a double can represent as written, since it may be an identifier. */
function reviveLongNumber(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value
  return context?.source ?? value
}
