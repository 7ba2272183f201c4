// Reads the primitive values of Avro (specification 1.12, "Binary encoding") from bytes, and never beyond their end.
import { DataFault } from '../../../daemon/kernel/data/data-fault.ts'

export class AvroCursor {
  readonly #bytes: Buffer
  readonly #view: DataView
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  get offset(): number {
    return this.#at
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length
  }

  /** A whole number in zigzag; exact, as all digits count in an identifier. */
  long(): number | bigint {
    let value = 0
    for (let shift = 1, count = 0; count < 4; count++, shift *= 128) {
      const byte = this.#byte()
      value += (byte & 0x7f) * shift
      if (byte < 0x80) return value % 2 === 0 ? value / 2 : -(value + 1) / 2
    }
    return this.#longer(value)
  }

  #longer(low: number): number | bigint {
    let value = BigInt(low)
    for (let shift = 28n; shift < 70n; shift += 7n) {
      const byte = this.#byte()
      value |= BigInt(byte & 0x7f) << shift
      if (byte >= 0x80) continue
      if (value > 0xffff_ffff_ffff_ffffn) break
      const whole = (value >> 1n) ^ -(value & 1n)
      return Number.isSafeInteger(Number(whole)) ? Number(whole) : whole
    }
    throw new DataFault('damaged: a number has too many bytes')
  }

  /** A number of the file that counts or measures. */
  count(): number {
    const value = this.long()
    if (typeof value === 'bigint') throw new DataFault('damaged: a length is beyond every file')
    return value
  }

  /** A view of the bytes, not a copy. */
  bytes(length: number = this.count()): Uint8Array {
    if (length < 0 || length > this.#bytes.length - this.#at)
      throw new DataFault('damaged: a value ends behind its block')
    this.#at += length
    return this.#bytes.subarray(this.#at - length, this.#at)
  }

  boolean(): boolean {
    return this.#byte() !== 0
  }

  float(): number {
    const at = this.#at
    this.bytes(4)
    return this.#view.getFloat32(at, true)
  }

  double(): number {
    const at = this.#at
    this.bytes(8)
    return this.#view.getFloat64(at, true)
  }

  #byte(): number {
    const byte = this.#bytes[this.#at++]
    if (byte === undefined) throw new DataFault('damaged: a value ends behind its block')
    return byte
  }
}
