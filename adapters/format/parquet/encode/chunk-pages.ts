// The pages of a column of a row group, compressed as they are completed.
import { constants, zstdCompressSync } from 'node:zlib'
import { ByteWriter } from 'hyparquet-writer'
import { serializeTCompactProtocol } from 'hyparquet-writer/src/thrift.js'
import { ByteBuffer } from './byte-buffer.ts'

/** Numbers of encodings in headers of pages. */
export const encodingNumbers = { PLAIN: 0, RLE: 3, RLE_DICTIONARY: 8 } as const
const pageTypes = { data: 0, dictionary: 2 } as const

/** The fastest level: what a higher one saves on typical tables is a tenth. */
const compression = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }

export class ChunkPages {
  /** Headers and contents of all pages. */
  readonly bytes = new ByteBuffer(1 << 16)
  /** What they would take without compression, headers included. */
  uncompressed_bytes = 0
  count = 0
  readonly #header = new ByteWriter()

  /** Adds a page with levels of definition. */
  addData(content: Uint8Array, values: number, encoding: number): void {
    const { RLE } = encodingNumbers
    this.#add(content, pageTypes.data, { field_5: { field_1: values, field_2: encoding, field_3: RLE, field_4: RLE } })
  }

  addDictionary(content: Uint8Array, values: number): void {
    this.#add(content, pageTypes.dictionary, { field_7: { field_1: values, field_2: encodingNumbers.PLAIN } })
  }

  #add(content: Uint8Array, type: number, description: Readonly<Record<string, object>>): void {
    const packed = zstdCompressSync(content, { ...compression, chunkSize: Math.max(64, content.length + 512) })
    const sizes = { field_1: type, field_2: content.length, field_3: packed.length }
    const header = this.#header
    header.index = 0
    serializeTCompactProtocol(header, { ...sizes, ...description })
    this.bytes.add(header.getBytes())
    this.bytes.add(packed)
    this.uncompressed_bytes += header.index + content.length
    this.count++
  }

  clear(): void {
    this.bytes.clear()
    this.uncompressed_bytes = 0
    this.count = 0
  }
}
