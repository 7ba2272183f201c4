// Encodes the values of a column as pages of Parquet: what all types share.
import type { ColumnMetaData, Statistics } from 'hyparquet/src/types.js'
import type { TextColumn } from '../../../../daemon/kernel/data/data-block.ts'
import type { DataColumn } from '../../../../daemon/kernel/data/data-schema.ts'
import { PresenceBits } from './bit-levels.ts'
import { ByteBuffer } from './byte-buffer.ts'
import { ChunkPages, encodingNumbers } from './chunk-pages.ts'

/** A page ends at the first of both. */
export const max_page_rows = 65_536
export const max_page_bytes = 1 << 20

/** A column of a row group: its bytes, and its description without the place in the file. */
export type EncodedChunk = {
  readonly parts: readonly Uint8Array[]
  readonly hasDictionary: boolean
  readonly metadata: Omit<ColumnMetaData, 'data_page_offset' | 'dictionary_page_offset'>
}

export abstract class ColumnEncoder {
  readonly column: DataColumn
  readonly #type: ColumnMetaData['type']
  protected readonly pages = new ChunkPages()
  protected readonly presence = new PresenceBits()
  readonly #page = new ByteBuffer(1 << 16)
  #rows = 0
  #missing = 0

  constructor(column: DataColumn, type: ColumnMetaData['type']) {
    this.column = column
    this.#type = type
  }

  /** Adds the rows of the range; returns the first one whose value is not of the type, or -1. */
  add(values: TextColumn, from: number, to: number): number {
    const end = this.column.required === true ? findMissing(values.starts, from, to) : to
    for (let row = from; row < end; ) {
      const next = this.addValues(values, row, Math.min(end, row + max_page_rows - this.presence.rows))
      if (next < 0) return ~next
      this.presence.add(values.starts, row, next)
      row = next
      if (this.presence.rows >= max_page_rows || this.value_bytes >= max_page_bytes) this.#endPage()
    }
    return end < to ? end : -1
  }

  /** Bytes that the chunk takes so far. */
  get size(): number {
    return this.pages.bytes.length + this.value_bytes
  }

  #endPage(): void {
    const { presence } = this
    const page = this.#page
    page.clear()
    if (this.column.required !== true) presence.write(page)
    const encoding = this.writeValues(page)
    this.pages.addData(page.content(), presence.rows, encoding)
    this.#rows += presence.rows
    this.#missing += presence.rows - presence.present
    presence.clear()
  }

  /** Ends the chunk; its bytes are valid until the next value is added. */
  finish(): EncodedChunk {
    if (this.presence.rows > 0) this.#endPage()
    const dictionary = this.dictionaryPage()
    const parts = [dictionary?.bytes.content(), this.pages.bytes.content()].filter((part) => part !== undefined)
    const uncompressed = this.pages.uncompressed_bytes + (dictionary?.uncompressed_bytes ?? 0)
    const metadata: EncodedChunk['metadata'] = {
      type: this.#type,
      encodings: dictionary ? ['PLAIN', 'RLE', 'RLE_DICTIONARY'] : ['PLAIN', 'RLE'],
      path_in_schema: [this.column.name],
      codec: 'ZSTD',
      num_values: BigInt(this.#rows),
      total_uncompressed_size: BigInt(uncompressed),
      total_compressed_size: BigInt(parts.reduce((sum, { length }) => sum + length, 0)),
      statistics: { null_count: BigInt(this.#missing), ...this.bounds() },
    }
    return { parts, hasDictionary: dictionary !== undefined, metadata }
  }

  /** Begins the next chunk. */
  clear(): void {
    this.pages.clear()
    this.#rows = 0
    this.#missing = 0
    this.reset()
  }

  /**
   * Adds the values of the range until the page has `max_page_bytes`; returns the row behind the last one, or `~row` for the first
   * one whose value is not of the type. Each type has a loop of its own: one for all of them would call its parts by look-up.
   */
  protected abstract addValues(values: TextColumn, from: number, to: number): number
  /** Bytes of the values of the page. */
  protected abstract get value_bytes(): number
  /** Adds the values of the page, and forgets them; returns the number of their encoding. */
  protected abstract writeValues(into: ByteBuffer): number
  /** The page of the dictionary, if the chunk has one. */
  protected dictionaryPage(): ChunkPages | undefined {
    return undefined
  }
  /** The least and the greatest value of the chunk. */
  protected bounds(): Pick<Statistics, 'min_value' | 'max_value'> {
    return {}
  }
  protected abstract reset(): void
}

/** The first row of the range without a value, or its end. */
function findMissing(starts: Int32Array, from: number, to: number): number {
  let row = from
  while (row < to && starts[row]! >= 0) row++
  return row
}

export const { PLAIN, RLE_DICTIONARY } = encodingNumbers
