// Reads one column of a row group page by page, as text: of the file, a page and its dictionary are in memory.
import { isUtf8 } from 'node:buffer'
import type { DecodedArray, PageHeader } from 'hyparquet'
import { parquetHeader, readPage } from 'hyparquet/src/column.js'
import { convert } from 'hyparquet/src/convert.js'
import type { RangeSource } from '../../../daemon/kernel/data/byte-source.ts'
import { type TextColumn, TextColumnBuilder } from '../../../daemon/kernel/data/data-block.ts'
import { DataFault } from '../../../daemon/kernel/data/data-fault.ts'
import type { ValueType } from '../../../daemon/kernel/data/data-schema.ts'
import { PageChecks, parquet_limits } from './check-pages.ts'
import type { TextFormatter } from './text-formatters.ts'

type ColumnDecoder = Parameters<typeof readPage>[2]

export type ColumnChunkRequest = {
  readonly name: string
  readonly decoder: ColumnDecoder
  /** `optional`: the library wraps each list that is present. */
  readonly list: 'none' | 'required' | 'optional'
  readonly format: TextFormatter
  readonly stated: ValueType
  readonly separator: string
  readonly max_field_bytes: number
  /** Whether a value without a text is missing; otherwise it ends the reading. */
  readonly isOptional: boolean
  /** Bytes that are read together, where a page does not have more. */
  readonly read_bytes: number
  /** Range of the column in the file. */
  readonly start: number
  readonly end: number
  /** The first row of the group, and the number of its rows. */
  readonly first_row: number
  readonly rows: number
}

const header_bytes = [1_024, 65_536, 1_048_576, 16_777_216]

/** Bytes besides its text that a decoded value takes. */
const value_overhead_bytes = 16

export class ColumnPages {
  readonly #file: RangeSource
  readonly #request: ColumnChunkRequest
  readonly #checks: PageChecks
  readonly #texts: TextColumnBuilder
  #dictionary: DecodedArray | undefined
  #dictionary_bytes = 0
  #offset: number
  #piece = new ArrayBuffer(0)
  #pieceStart = 0
  /** Rows that were delivered, and of the decoded ones those that were. */
  #rows = 0
  #position = 0

  constructor(file: RangeSource, request: ColumnChunkRequest) {
    this.#file = file
    this.#request = request
    this.#checks = new PageChecks(request.list !== 'none' ? parquet_limits.list_values : request.rows)
    this.#texts = new TextColumnBuilder(request.name)
    this.#offset = request.start
  }

  get name(): string {
    return this.#request.name
  }

  /** Rows that are decoded and not delivered. */
  get available(): number {
    return this.#texts.rows - this.#position
  }

  /** Bytes that this column keeps in memory. */
  get open_bytes(): number {
    const text_bytes = this.#texts.length + this.#texts.rows * value_overhead_bytes
    return text_bytes + this.#dictionary_bytes + this.#piece.byteLength
  }

  /** Decodes the next page, or all pages of a list column. Throws `DataFault`, and errors of the library. */
  decode(): void {
    this.#rows += this.#texts.rows
    this.#texts.clear()
    this.#position = 0
    const { list, rows } = this.#request
    let lists: DecodedArray | undefined
    while (this.#offset < this.#request.end - 1) {
      const header = this.#readHeader()
      this.#checks.check(header)
      const values = this.#decodePage(header, lists)
      if (values === undefined) continue
      if (list !== 'none') lists = values
      else if (values.length > 0) {
        this.#addValues(values)
        break
      }
    }
    if (lists) this.#addValues(lists)
    // A page of its own length would be kept until the next one is requested.
    if (this.#offset >= this.#pieceStart + this.#piece.byteLength) this.#piece = new ArrayBuffer(0)
    const decoded = this.#rows + this.#texts.rows
    if (this.#texts.rows === 0 || decoded > rows) {
      throw new DataFault(`it has ${decoded} values in ${rows} rows of a group`)
    }
  }

  /** Returns the next rows of those that are available. */
  take(rows: number): TextColumn {
    const { name, bytes, starts, ends } = this.#texts.column()
    const { stated } = this.#request
    const from = this.#position
    this.#position += rows
    return { name, stated, bytes, starts: starts.subarray(from, from + rows), ends: ends.subarray(from, from + rows) }
  }

  #readHeader(): PageHeader {
    for (const length of header_bytes) {
      const end = Math.min(this.#request.end, this.#offset + length)
      const reader = { view: this.#view(this.#offset, end), offset: 0 }
      try {
        const header = parquetHeader(reader)
        this.#offset += reader.offset
        return header
      } catch (error) {
        if (!(error instanceof RangeError) || end === this.#request.end) throw error
      }
    }
    throw new DataFault('a page has a header of more than 16777216 bytes')
  }

  #view(start: number, end: number): DataView {
    if (start < this.#pieceStart || end > this.#pieceStart + this.#piece.byteLength) {
      this.#piece = this.#file.read(start, Math.min(this.#request.end, Math.max(end, start + this.#request.read_bytes)))
      this.#pieceStart = start
    }
    return new DataView(this.#piece, start - this.#pieceStart, end - start)
  }

  /** Returns the values of a data page; undefined for another page. */
  #decodePage(header: PageHeader, lists: DecodedArray | undefined): DecodedArray | undefined {
    const end = this.#offset + header.compressed_page_size
    if (end > this.#request.end) throw new DataFault('a page ends beyond its column')
    const view = this.#view(this.#offset, end)
    this.#offset = end
    const { decoder } = this.#request
    if (header.type === 'DICTIONARY_PAGE') {
      if (this.#dictionary) throw new DataFault('it has two dictionaries')
      const { data = [] } = readPage({ view, offset: 0 }, header, decoder, undefined, undefined, 0)
      this.#dictionary = convert(data, decoder)
      this.#dictionary_bytes = header.uncompressed_page_size + data.length * value_overhead_bytes
      return undefined
    }
    if (!header.data_page_header && !header.data_page_header_v2) return undefined
    checkPrefixes(view, header, decoder)
    return readPage({ view, offset: 0 }, header, decoder, this.#dictionary, lists, 0).data
  }

  #addValues(values: DecodedArray): void {
    const { list } = this.#request
    const texts = this.#texts
    /** Rows of the values of the dictionary, whose text is stored once. */
    const rowOf = new Map<unknown, number>()
    for (const stored of values) {
      if (list !== 'none') {
        this.#addText(this.#joinItems(list === 'optional' ? (stored as unknown[])[0] : stored))
        continue
      }
      const known = this.#dictionary && stored instanceof Uint8Array ? rowOf.get(stored) : undefined
      if (known !== undefined) {
        texts.repeat(known)
        continue
      }
      if (this.#dictionary && stored instanceof Uint8Array) rowOf.set(stored, texts.rows)
      this.#addText(this.#format(stored))
    }
  }

  #format(stored: unknown): string | Uint8Array | undefined {
    const text = stored === undefined || stored === null ? undefined : this.#request.format(stored)
    if (!(text instanceof Uint8Array) || isUtf8(text)) return text
    if (this.#request.isOptional) return undefined
    throw this.#fault('is not UTF-8')
  }

  /** Joins the items of a list that are present; undefined for a missing list. */
  #joinItems(stored: unknown): string | undefined {
    if (!Array.isArray(stored)) return undefined
    const { separator, max_field_bytes } = this.#request
    let text = ''
    let isFirst = true
    for (const item of stored) {
      if (item === undefined || item === null) continue
      text += `${isFirst ? '' : separator}${decodeItem(this.#format(item))}`
      isFirst = false
      // Items of a dictionary cost a file nothing: the text must not grow to all of them first.
      if (text.length > max_field_bytes) throw this.#fault(`has more than ${max_field_bytes} bytes`)
    }
    return text
  }

  #addText(text: string | Uint8Array | undefined): void {
    const { max_field_bytes } = this.#request
    const length =
      typeof text === 'string' && text.length * 3 > max_field_bytes ? Buffer.byteLength(text) : text?.length
    if (length !== undefined && length > max_field_bytes) throw this.#fault(`has more than ${max_field_bytes} bytes`)
    this.#texts.add(text)
    if (this.#texts.length <= parquet_limits.open_bytes) return
    throw new DataFault(`a row group has more than ${parquet_limits.open_bytes} bytes of it`)
  }

  #fault(reason: string): DataFault {
    return new DataFault(`record ${this.#request.first_row + this.#rows + this.#texts.rows + 1} ${reason}`)
  }
}

/** Values that share beginnings can have far more bytes than their page: what the prefixes add is limited beforehand. */
function checkPrefixes(view: DataView, header: PageHeader, decoder: ColumnDecoder): void {
  const { data_page_header: one, data_page_header_v2: two } = header
  if ((one ?? two)?.encoding !== 'DELTA_BYTE_ARRAY') return
  const encoding = 'DELTA_BINARY_PACKED' as const
  const asNumbers = {
    ...header,
    ...(one ? { data_page_header: { ...one, encoding } } : {}),
    ...(two ? { data_page_header_v2: { ...two, encoding } } : {}),
  }
  const numbers = { ...decoder, type: 'INT32' as const, element: { ...decoder.element, type: 'INT32' as const } }
  const { data = [] } = readPage({ view, offset: 0 }, asNumbers, numbers, undefined, undefined, 0)
  let bytes = 0
  const prefixes: Iterable<unknown> = Array.isArray(data) ? data.flat(Number.POSITIVE_INFINITY) : data
  for (const prefix of prefixes) bytes += Number(prefix ?? 0)
  if (bytes > parquet_limits.page_bytes) {
    throw new DataFault(`a page claims more than the ${parquet_limits.page_bytes} bytes that it may have`)
  }
}

function decodeItem(item: string | Uint8Array | undefined): string {
  return item instanceof Uint8Array
    ? Buffer.from(item.buffer, item.byteOffset, item.byteLength).toString()
    : (item ?? '')
}
