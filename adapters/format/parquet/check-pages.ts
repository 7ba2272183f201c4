// Checks the claimed sizes of a column's pages before memory is reserved: a file of a kilobyte can claim a terabyte.
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import { parquetHeader } from 'hyparquet/src/column.js'
import { compressors as byLibrary } from 'hyparquet-compressors'

/** A fault of a Parquet file. */
export class ParquetFault extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'ParquetFault'
  }
}

/**
 * Limits of one column of one row group. Pages are read a few at a time, so memory follows the limits of a page; a list
 * is read as a whole, and has a limit of its own.
 */
export const parquet_limits = {
  chunk_bytes: 1_073_741_824,
  page_bytes: 134_217_728,
  values: 16_777_216,
  page_values: 1_048_576,
  list_values: 2_097_152,
}

/**
 * Returns the number of values of each data page, in order. `values`: how many all pages together can have. Throws
 * `ParquetFault` for pages that claim more, or that end beyond the bytes.
 */
export function checkPages(chunk: ArrayBuffer, values: number): number[] {
  const reader = { view: new DataView(chunk), offset: 0 }
  const pages: number[] = []
  let [bytes, total] = [0, 0]
  while (reader.offset < chunk.byteLength - 1) {
    const header = parquetHeader(reader)
    const sizes = [header.compressed_page_size, header.uncompressed_page_size]
    const counts = [header.data_page_header, header.data_page_header_v2, header.dictionary_page_header]
    if (sizes.some((size) => !Number.isInteger(size) || size < 0)) throw new ParquetFault('a page has no size')
    const most = Math.min(values, parquet_limits.page_values)
    if (counts.some((of) => of !== undefined && !(of.num_values >= 0 && of.num_values <= most))) {
      throw new ParquetFault(`a page claims more than the ${most} values that it may have`)
    }
    if (header.uncompressed_page_size > parquet_limits.page_bytes) {
      throw new ParquetFault(`a page claims more than the ${parquet_limits.page_bytes} bytes that it may have`)
    }
    checkVersionTwoPage(header)
    bytes += header.uncompressed_page_size
    const data = header.data_page_header ?? header.data_page_header_v2
    if (data) pages.push(data.num_values)
    total += data?.num_values ?? 0
    if (total > values) throw new ParquetFault(`pages claim more than the ${values} values that they may have`)
    if (bytes > parquet_limits.chunk_bytes) throw new ParquetFault('pages claim more bytes than one column may have')
    reader.offset += header.compressed_page_size
    if (reader.offset > chunk.byteLength) throw new ParquetFault('a page ends beyond its column')
  }
  return pages
}

/** Pages of the second version say more, and what they say must fit together. */
function checkVersionTwoPage({
  compressed_page_size,
  data_page_header_v2: page,
}: ReturnType<typeof parquetHeader>): void {
  if (!page) return
  const levels = [page.definition_levels_byte_length, page.repetition_levels_byte_length]
  const isWithin = (count: number, most: number) => Number.isInteger(count) && count >= 0 && count <= most
  const all = levels.reduce((sum, length) => sum + length, 0)
  const fits = levels.every((length) => isWithin(length, compressed_page_size)) && all <= compressed_page_size
  if (fits && isWithin(page.num_nulls, page.num_values) && isWithin(page.num_rows, page.num_values)) return
  throw new ParquetFault('a page claims more bytes than it contains')
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
