// Bytes that arrive in chunks of any size: held once, since a sender of tiny chunks would make each byte an object.

const min_capacity = 4_096

export class GatheredBytes {
  #buffer = Buffer.alloc(0)
  #length = 0

  get length(): number {
    return this.#length
  }

  append(chunk: Uint8Array): void {
    const needed = this.#length + chunk.length
    if (needed > this.#buffer.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#buffer.length, min_capacity))
      this.#buffer.copy(grown, 0, 0, this.#length)
      this.#buffer = grown
    }
    this.#buffer.set(chunk, this.#length)
    this.#length = needed
  }

  /** All bytes so far, which are no longer held here. */
  take(): Buffer {
    const bytes = this.#buffer.subarray(0, this.#length)
    this.#buffer = Buffer.alloc(0)
    this.#length = 0
    return bytes
  }
}
