// Values of the protocol of Kafka out of bytes that a server sent: each length is held to the bytes that are there.

/** Bytes that no Kafka sends. */
export class MalformedBytesError extends Error {}

const varint_bits = 32
const varlong_bits = 64

export class WireReader {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  get remaining(): number {
    return this.#bytes.length - this.#at
  }

  /** Shares the memory of the answer. */
  take(length: number): Buffer {
    if (length < 0 || length > this.remaining) throw new MalformedBytesError('a length is beyond the bytes')
    this.#at += length
    return this.#bytes.subarray(this.#at - length, this.#at)
  }

  int8 = (): number => this.take(1).readInt8()
  int16 = (): number => this.take(2).readInt16BE()
  int32 = (): number => this.take(4).readInt32BE()
  uint32 = (): number => this.take(4).readUInt32BE()
  int64 = (): bigint => this.take(8).readBigInt64BE()
  /** As hexadecimal digits. */
  uuid = (): string => this.take(16).toString('hex')

  #varint(bits: number): bigint {
    let value = 0n
    for (let shift = 0; shift < bits; shift += 7) {
      const byte = this.take(1).readUInt8()
      value |= BigInt(byte & 0x7f) << BigInt(shift)
      if (byte < 0x80) return BigInt.asUintN(bits, value)
    }
    throw new MalformedBytesError('a number is too long')
  }

  unsignedVarint(): number {
    // Nearly all lengths have one byte.
    const first = this.#bytes[this.#at]
    if (first === undefined || first >= 0x80) return Number(this.#varint(varint_bits))
    this.#at++
    return first
  }

  varint(): number {
    const value = this.unsignedVarint()
    return (value >>> 1) ^ -(value & 1)
  }

  varlong(): bigint {
    const value = this.#varint(varlong_bits)
    return (value >> 1n) ^ -(value & 1n)
  }

  /** Null for a negative length. */
  varintBytes(): Buffer | null {
    const length = this.varint()
    return length < 0 ? null : this.take(length)
  }

  text(): string | null {
    const length = this.int16()
    return length < 0 ? null : this.take(length).toString()
  }

  bytes(): Buffer {
    return this.take(Math.max(0, this.int32()))
  }

  compactText(): string | null {
    return this.compactBytes()?.toString() ?? null
  }

  compactBytes(): Buffer | null {
    const length = this.unsignedVarint()
    return length === 0 ? null : this.take(length - 1)
  }

  list<T>(read: () => T): T[] {
    return this.#readAll(Math.max(0, this.int32()), read)
  }

  compactList<T>(read: () => T): T[] {
    return this.#readAll(Math.max(0, this.unsignedVarint() - 1), read)
  }

  /** Each element has a byte at least. */
  #readAll<T>(count: number, read: () => T): T[] {
    if (count > this.remaining) throw new MalformedBytesError('a list is longer than the bytes')
    return Array.from({ length: count }, read)
  }

  /** Takes each tagged field by its number, and reads past those of later versions. */
  tags(onField?: (tag: number, field: WireReader) => void): void {
    for (let left = this.unsignedVarint(); left > 0; left--) {
      const tag = this.unsignedVarint()
      const field = this.take(this.unsignedVarint())
      onField?.(tag, new WireReader(field))
    }
  }
}
