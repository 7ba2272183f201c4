// Bytes that are collected, in a buffer that grows and is used again.

export class ByteBuffer {
  bytes: Uint8Array<ArrayBuffer>
  view: DataView
  length = 0

  constructor(capacity = 1 << 12) {
    this.bytes = new Uint8Array(capacity)
    this.view = new DataView(this.bytes.buffer)
  }

  /** Makes room for so many more bytes. */
  reserve(count: number): void {
    if (this.length + count <= this.bytes.length) return
    const wider = new Uint8Array(Math.max(this.bytes.length * 2, this.length + count))
    wider.set(this.bytes.subarray(0, this.length))
    this.bytes = wider
    this.view = new DataView(wider.buffer)
  }

  /** The bytes so far, until the next change. */
  content(): Uint8Array<ArrayBuffer> {
    return this.bytes.subarray(0, this.length)
  }

  clear(): void {
    this.length = 0
  }

  add(bytes: Uint8Array): void {
    this.reserve(bytes.length)
    this.bytes.set(bytes, this.length)
    this.length += bytes.length
  }

  addByte(byte: number): void {
    this.reserve(1)
    this.bytes[this.length++] = byte
  }

  /** Four bytes, the lowest first. */
  addUint32(value: number): void {
    this.reserve(4)
    this.view.setUint32(this.length, value, true)
    this.length += 4
  }

  /** Seven bits a byte, the lowest first (ULEB128). */
  addVarint(value: number): void {
    let rest = value
    for (; rest > 127; rest = Math.floor(rest / 128)) this.addByte((rest % 128) | 128)
    this.addByte(rest)
  }
}

/** Texts up to this length are copied faster by a loop than by a call. */
const short_length = 48

/** Copies a range to `at` of another buffer, which has room for it. */
export function copyRange(from: Uint8Array, start: number, end: number, into: Uint8Array, at: number): void {
  if (end - start > short_length) {
    into.set(from.subarray(start, end), at)
    return
  }
  let target = at
  for (let source = start; source < end; source++) into[target++] = from[source]!
}
