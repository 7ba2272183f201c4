// Values of the protocol of Kafka as bytes of a request.

export class WireWriter {
  readonly #parts: Buffer[] = []

  #add(length: number, write: (part: Buffer) => void): this {
    const part = Buffer.alloc(length)
    write(part)
    this.#parts.push(part)
    return this
  }

  int8 = (value: number): this => this.#add(1, (part) => part.writeInt8(value))
  int16 = (value: number): this => this.#add(2, (part) => part.writeInt16BE(value))
  int32 = (value: number): this => this.#add(4, (part) => part.writeInt32BE(value))
  int64 = (value: bigint): this => this.#add(8, (part) => part.writeBigInt64BE(value))

  raw(bytes: Buffer): this {
    this.#parts.push(bytes)
    return this
  }

  unsignedVarint(value: number): this {
    const bytes: number[] = []
    let left = value
    for (; left >= 0x80; left >>>= 7) bytes.push((left & 0x7f) | 0x80)
    return this.raw(Buffer.from([...bytes, left]))
  }

  text(value: string): this {
    const bytes = Buffer.from(value)
    return this.int16(bytes.length).raw(bytes)
  }

  bytes(value: Buffer): this {
    return this.int32(value.length).raw(value)
  }

  compactText(value: string | null): this {
    if (value === null) return this.unsignedVarint(0)
    const bytes = Buffer.from(value)
    return this.unsignedVarint(bytes.length + 1).raw(bytes)
  }

  compactList<T>(values: readonly T[], write: (value: T) => void): this {
    this.unsignedVarint(values.length + 1)
    for (const value of values) write(value)
    return this
  }

  noTags(): this {
    return this.unsignedVarint(0)
  }

  done(): Buffer {
    return Buffer.concat(this.#parts)
  }
}
