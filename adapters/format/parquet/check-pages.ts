// Checks the claimed sizes of a column's pages before memory is reserved: a file of a kilobyte can claim a terabyte.
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import type { PageHeader } from 'hyparquet'
import { compressors as byLibrary } from 'hyparquet-compressors'
import { DataFault } from '../../../daemon/kernel/data/data-fault.ts'

/**
 * Limits of one column of one row group, and of the pages of all columns that are decoded together. A list column is decoded as
 * a whole, and has a limit of its own.
 */
export const parquet_limits = {
  chunk_bytes: 1_073_741_824,
  page_bytes: 134_217_728,
  open_bytes: 268_435_456,
  /** Read beyond the current pages, of all columns together. */
  read_ahead_bytes: 33_554_432,
  values: 16_777_216,
  page_values: 1_048_576,
  list_values: 2_097_152,
}

/** Checks the pages of one column of a row group. */
export class PageChecks {
  readonly #values: number
  #bytes = 0
  #total = 0

  /** `values`: how many all pages together can have. */
  constructor(values: number) {
    this.#values = values
  }

  /** Throws `DataFault` for a page that claims more than it can have. */
  check(header: PageHeader): void {
    const sizes = [header.compressed_page_size, header.uncompressed_page_size]
    const counts = [header.data_page_header, header.data_page_header_v2, header.dictionary_page_header]
    if (sizes.some((size) => !Number.isInteger(size) || size < 0)) throw new DataFault('a page has no size')
    const most = Math.min(this.#values, parquet_limits.page_values)
    if (counts.some((of) => of !== undefined && !(of.num_values >= 0 && of.num_values <= most))) {
      throw new DataFault(`a page claims more than the ${most} values that it may have`)
    }
    if (sizes.some((size) => size > parquet_limits.page_bytes)) {
      throw new DataFault(`a page claims more than the ${parquet_limits.page_bytes} bytes that it may have`)
    }
    checkVersionTwoPage(header)
    this.#bytes += header.uncompressed_page_size
    this.#total += (header.data_page_header ?? header.data_page_header_v2)?.num_values ?? 0
    if (this.#total > this.#values) {
      throw new DataFault(`pages claim more than the ${this.#values} values that they may have`)
    }
    if (this.#bytes > parquet_limits.chunk_bytes) throw new DataFault('pages claim more bytes than one column may have')
  }
}

/** Pages of the second version say more, and what they say must fit together. */
function checkVersionTwoPage({ compressed_page_size, data_page_header_v2: page }: PageHeader): void {
  if (!page) return
  const levels = [page.definition_levels_byte_length, page.repetition_levels_byte_length]
  const isWithin = (count: number, most: number) => Number.isInteger(count) && count >= 0 && count <= most
  const all = levels.reduce((sum, length) => sum + length, 0)
  const fits = levels.every((length) => isWithin(length, compressed_page_size)) && all <= compressed_page_size
  if (fits && isWithin(page.num_nulls, page.num_values) && isWithin(page.num_rows, page.num_values)) return
  throw new DataFault('a page claims more bytes than it contains')
}

type Decompressor = (packed: Uint8Array, length: number) => Uint8Array

const boundOutput = (
  unpack: (packed: Uint8Array, options: { maxOutputLength: number }) => Uint8Array,
): Decompressor => {
  return (packed, length) => unpack(packed, { maxOutputLength: Math.max(1, length) })
}

/** The platform's own where it has them, which stop at the length that was claimed. */
export const decompressors = {
  ...byLibrary,
  GZIP: boundOutput(gunzipSync),
  BROTLI: boundOutput(brotliDecompressSync),
  ZSTD: boundOutput(zstdDecompressSync),
}
