// Reads comma-separated values (RFC 4180), or tab-separated ones, incrementally into columns of numbered values.

import { BufferedColumn } from './buffered-column.ts'
import type { ValueTable } from './value-table.ts'

/** A fault of the data with its line; the first line is 1. */
export class DataFault extends Error {
  readonly line: number
  constructor(line: number, message: string) {
    super(`line ${line}: ${message}`)
    this.name = 'DataFault'
    this.line = line
  }
}

/** The distinct values of a column, by number. */
export type ColumnValues = Pick<ValueTable, 'size' | 'bytesOf' | 'all'>

/** A column of a file: its distinct values, and the number of each row's value. */
export type RawColumn = { readonly name: string; readonly values: ColumnValues; readonly codes: Int32Array }

export type CsvLimits = {
  readonly field_bytes: number
  readonly rows: number
  readonly names: number
  /** The column of the record id, which may have a lower limit. */
  readonly id?: { readonly name: string; readonly bytes: number } | undefined
}

/** Returns the maximum bytes of a field of this name. */
export function getFieldLimit({ field_bytes, id }: CsvLimits, name: string): number {
  return id?.name === name ? Math.min(id.bytes, field_bytes) : field_bytes
}

const [quote, comma, lineFeed, carriageReturn] = [34, 44, 10, 13]

/**
 * State of the reader within a record. `ended`: after a closing quote, which a second quote turns into a literal one.
 */
type CsvState = 'start' | 'plain' | 'quoted' | 'ended'

/** Bytes that separate values. */
export const separators = { comma, tab: 9 } as const

/** Reads bytes passed to `push`; `finish` returns the columns. Stores values of selected columns only. */
export class CsvReader {
  readonly #limits: CsvLimits
  readonly #isSelected: (name: string) => boolean
  readonly #separator: number
  #names: string[] = []
  /** Maximum bytes of the fields of each column. */
  #fieldLimits: number[] = []
  #columns: (BufferedColumn | undefined)[] = []
  /** The current chunk, which buffered values refer to. */
  #chunk: Uint8Array = new Uint8Array(0)
  #rows = -1
  #field = 0
  #line = 1
  #state: CsvState = 'start'
  /** The field so far, if it is not contiguous in the current chunk. */
  #buffer: Uint8Array = new Uint8Array(256)
  #length = 0
  readonly #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

  constructor(limits: CsvLimits, isSelected: (name: string) => boolean, separator: number = comma) {
    this.#limits = limits
    this.#isSelected = isSelected
    this.#separator = separator
  }

  /** Reads a chunk. Throws `DataFault`. */
  push(bytes: Uint8Array): void {
    this.#chunk = bytes
    let at = 0
    while (at < bytes.length) {
      if (this.#state === 'quoted') at = this.#quoted(bytes, at)
      else if (this.#state === 'ended') at = this.#ended(bytes, at)
      else {
        if (this.#state === 'start' && this.#rows >= 0) at = this.#plainFields(bytes, at)
        if (at < bytes.length) at = this.#plain(bytes, at)
      }
    }
    for (const column of this.#columns) column?.flush(bytes)
  }

  /**
   * Reads complete unquoted fields as long as they have no special case; returns the start of the first other field.
   */
  #plainFields(bytes: Uint8Array, from: number): number {
    const columns = this.#columns
    const last = this.#names.length - 1
    const separator = this.#separator
    let [start, field, rows] = [from, this.#field, this.#rows]
    for (let at = from; at < bytes.length; at++) {
      const byte = bytes[at]!
      if (byte > comma || (byte !== separator && byte !== lineFeed && byte !== quote)) continue
      const isExpected = byte === lineFeed ? field === last && rows < this.#limits.rows : field < last
      if (byte === quote || !isExpected || at - start > (this.#fieldLimits[field] ?? this.#limits.field_bytes)) break
      const end = byte === lineFeed && at > start && bytes[at - 1] === carriageReturn ? at - 1 : at
      if (end === start && last === 0) break
      columns[field]?.buffer(start, end)
      start = at + 1
      if (byte === separator) field++
      else {
        field = 0
        rows++
      }
    }
    this.#line += rows - this.#rows
    this.#rows = rows
    this.#field = field
    return start
  }

  /** Reads to the end of an unquoted field; a contiguous field is not copied. */
  #plain(bytes: Uint8Array, from: number): number {
    if (this.#state === 'start' && bytes[from] === quote) {
      this.#state = 'quoted'
      return from + 1
    }
    const separator = this.#separator
    let at = from
    for (; at < bytes.length; at++) {
      const byte = bytes[at]!
      if (byte === separator || byte === lineFeed) break
      if (byte === quote) throw new DataFault(this.#line, `a quotation mark in the middle of field ${this.#field + 1}`)
    }
    if (at === bytes.length || this.#length > 0) this.#append(bytes, from, at)
    if (at === bytes.length) {
      this.#state = 'plain'
      return at
    }
    const isLast = bytes[at] === lineFeed
    const [source, start, end] = this.#length > 0 ? [this.#buffer, 0, this.#length] : [bytes, from, at]
    const endsInReturn = isLast && end > start && source[end - 1] === carriageReturn
    this.#endField(source, start, endsInReturn ? end - 1 : end, isLast)
    return at + 1
  }

  #quoted(bytes: Uint8Array, from: number): number {
    let at = from
    while (at < bytes.length && bytes[at] !== quote) if (bytes[at++] === lineFeed) this.#line++
    this.#append(bytes, from, at)
    if (at === bytes.length) return at
    this.#state = 'ended'
    return at + 1
  }

  #ended(bytes: Uint8Array, at: number): number {
    const byte = bytes[at]
    if (byte === quote) {
      this.#append(bytes, at, at + 1)
      this.#state = 'quoted'
    } else if (byte === this.#separator || byte === lineFeed)
      this.#endField(this.#buffer, 0, this.#length, byte === lineFeed)
    else if (byte !== carriageReturn) {
      throw new DataFault(this.#line, `text after the closing quotation mark of field ${this.#field + 1}`)
    }
    return at + 1
  }

  #append(bytes: Uint8Array, from: number, to: number): void {
    const length = this.#length + to - from
    this.#checkLength(length)
    if (length > this.#buffer.length) {
      const wider = new Uint8Array(length * 2)
      wider.set(this.#buffer.subarray(0, this.#length))
      this.#buffer = wider
    }
    this.#buffer.set(bytes.subarray(from, to), this.#length)
    this.#length = length
  }

  #checkLength(length: number): void {
    const max_bytes = this.#fieldLimits[this.#field] ?? this.#limits.field_bytes
    if (length <= max_bytes) return
    const name = this.#fieldLimits[this.#field] === undefined ? '' : `, ${JSON.stringify(this.#names[this.#field])},`
    throw new DataFault(this.#line, `field ${this.#field + 1}${name} has more than ${max_bytes} bytes`)
  }

  #endField(bytes: Uint8Array, from: number, to: number, isLast: boolean): void {
    const isBlank = isLast && this.#field === 0 && from === to && this.#state !== 'ended'
    this.#state = 'start'
    this.#length = 0
    if (this.#rows < 0) this.#names.push(this.#nameIn(bytes.subarray(from, to)))
    else if (!isBlank) this.#addValue(bytes, from, to)
    this.#field++
    if (!isLast) return
    if (this.#rows < 0) this.#begin()
    else if (!isBlank) this.#endRow()
    this.#field = 0
    this.#line++
  }

  #addValue(bytes: Uint8Array, from: number, to: number): void {
    if (this.#field >= this.#names.length) {
      throw new DataFault(this.#line, `more than the ${this.#names.length} fields that the first line names`)
    }
    this.#checkLength(to - from)
    const column = this.#columns[this.#field]
    if (!column) return
    if (bytes === this.#chunk) column.buffer(from, to)
    else {
      column.flush(this.#chunk)
      column.add(bytes, from, to)
    }
  }

  #nameIn(bytes: Uint8Array): string {
    if (this.#names.length === this.#limits.names) throw new DataFault(1, `more than ${this.#limits.names} columns`)
    const hasByteOrderMark = this.#names.length === 0 && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
    return this.#textOf(hasByteOrderMark ? bytes.subarray(3) : bytes).trim()
  }

  #textOf(bytes: Uint8Array): string {
    try {
      return this.#decoder.decode(bytes)
    } catch {
      throw new DataFault(this.#line, 'bytes that are not UTF-8')
    }
  }

  #begin(): void {
    const rest = new Set(this.#names)
    const repeated = this.#names.find((name) => !rest.delete(name))
    if (repeated !== undefined) throw new DataFault(1, `two columns have the name ${JSON.stringify(repeated)}`)
    this.#columns = this.#names.map((name) => (this.#isSelected(name) ? new BufferedColumn() : undefined))
    this.#fieldLimits = this.#names.map((name) => getFieldLimit(this.#limits, name))
    this.#rows = 0
  }

  #endRow(): void {
    if (this.#field < this.#names.length) {
      throw new DataFault(this.#line, `${this.#field} fields, and the first line names ${this.#names.length}`)
    }
    if (++this.#rows > this.#limits.rows) throw new DataFault(this.#line, `more than ${this.#limits.rows} records`)
  }

  /** Returns all selected columns. Throws `DataFault`. */
  finish(): { names: readonly string[]; rows: number; columns: readonly RawColumn[] } {
    if (this.#state === 'quoted') throw new DataFault(this.#line, 'the file ends within quotation marks')
    if (this.#state !== 'start' || this.#field > 0) this.push(Uint8Array.of(lineFeed))
    if (this.#rows < 0) throw new DataFault(1, 'the first line must name the columns, and the file has no line')
    const columns = this.#names.flatMap((name, field) => {
      const column = this.#columns[field]
      return column ? [{ name, values: column.values, codes: column.finish(this.#rows) }] : []
    })
    return { names: this.#names, rows: this.#rows, columns }
  }
}
