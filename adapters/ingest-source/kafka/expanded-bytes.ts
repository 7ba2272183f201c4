// Bytes that a codec writes, with copies of those before: as LZ4 and Snappy describe their data.
import { MalformedBytesError } from './wire-reader.ts'

export class ExpandedBytes {
  #bytes: Buffer
  #length = 0
  readonly #limit: number
  readonly #refuse: () => Error

  /** `refuse`: the error beyond the limit. */
  constructor(guess: number, refuse: () => Error, limit: number) {
    this.#bytes = Buffer.allocUnsafe(Math.max(64, Math.min(guess, limit)))
    this.#refuse = refuse
    this.#limit = limit
  }

  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length)
  }

  get length(): number {
    return this.#length
  }

  #reserve(count: number): void {
    const wanted = this.#length + count
    if (wanted > this.#limit) throw this.#refuse()
    if (wanted <= this.#bytes.length) return
    const grown = Buffer.allocUnsafe(Math.min(this.#limit, Math.max(wanted, this.#bytes.length * 2)))
    this.#bytes.copy(grown, 0, 0, this.#length)
    this.#bytes = grown
  }

  add(bytes: Buffer): void {
    this.#reserve(bytes.length)
    bytes.copy(this.#bytes, this.#length)
    this.#length += bytes.length
  }

  /** Those that begin `distance` before the end: a copy may go on over what it writes. */
  repeat(distance: number, count: number): void {
    if (distance < 1 || distance > this.#length) throw new MalformedBytesError('a copy begins before the data')
    this.#reserve(count)
    const bytes = this.#bytes
    const from = this.#length - distance
    if (distance >= count) bytes.copy(bytes, this.#length, from, from + count)
    else for (let at = 0; at < count; at++) bytes[this.#length + at] = bytes[from + at] ?? 0
    this.#length += count
  }
}
