// Looks at a file through a window: small reads at any place, each within the file, and not more than an image needs.
import type { RangeSource } from '../../../daemon/kernel/data/byte-source.ts'
import { DataFault } from '../../../daemon/kernel/data/data-fault.ts'

const window_bytes = 65_536
/** Reads of one file: parts that refer to one another end. */
const max_reads = 1_000_000
/** Bytes of values that are read at once. */
const max_value_bytes = 16_777_216

export class ByteWindow {
  readonly size: number
  readonly #source: RangeSource
  #window = new DataView(new ArrayBuffer(0))
  #start = 0
  #reads = 0

  constructor(source: RangeSource) {
    this.#source = source
    this.size = source.size
  }

  /** The view is valid until the next call. Throws `DataFault` where the file has no such bytes. */
  view(start: number, length: number): DataView {
    if (!Number.isSafeInteger(start) || start < 0 || start + length > this.size)
      throw new DataFault('damaged: a part of it lies beyond its end')
    if (length > max_value_bytes) throw new DataFault(`damaged: a value has more than ${max_value_bytes} bytes`)
    if (++this.#reads > max_reads) throw new DataFault('damaged: it has too many parts')
    if (start < this.#start || start + length > this.#start + this.#window.byteLength) {
      const end = Math.min(this.size, start + Math.max(length, window_bytes))
      this.#window = new DataView(this.#source.read(start, end))
      this.#start = start
    }
    return new DataView(this.#window.buffer, start - this.#start, length)
  }

  bytes(start: number, length: number): Uint8Array {
    const { buffer, byteOffset } = this.view(start, length)
    return new Uint8Array(buffer, byteOffset, length)
  }

  /** Characters of one byte. */
  latin(start: number, length: number): string {
    return String.fromCharCode(...this.bytes(start, length))
  }

  /** A part of the file as a file of its own, whose places count from `start`. */
  part(start: number, length: number): ByteWindow {
    if (start < 0 || length < 0 || start + length > this.size)
      throw new DataFault('damaged: a part of it lies beyond its end')
    return new ByteWindow({ size: length, read: (from, to) => this.#source.read(start + from, start + to) })
  }
}
