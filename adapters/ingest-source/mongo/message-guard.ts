// Holds the messages of a server to one document each before the library collects them: it loops at other lengths, and decompresses without a limit.

/** As servers limit it themselves. */
const max_message_bytes = 48_000_000
/** Length, two numbers of the request, and the code. */
const header_bytes = 16

/** Bytes between the header and the document, by the code: of an answer to the first request, and to others. */
const preambles: Readonly<Record<number, number>> = { 1: 20, 2013: 5 }
const longest_head = header_bytes + 24

export class MessageGuard {
  readonly #head = Buffer.alloc(longest_head)
  #filled = 0
  /** Bytes of the head that are needed next. */
  #needed = header_bytes
  /** Bytes of the current message that are still to come. */
  #left = 0

  /** Whether the next bytes of the server go on as the protocol does. */
  accepts(chunk: Buffer): boolean {
    for (let at = 0; at < chunk.length; ) {
      if (this.#left > 0) {
        const passed = Math.min(this.#left, chunk.length - at)
        this.#left -= passed
        at += passed
        continue
      }
      const copied = chunk.copy(this.#head, this.#filled, at, Math.min(chunk.length, at + this.#needed - this.#filled))
      this.#filled += copied
      at += copied
      if (this.#filled < this.#needed) return true
      if (!this.#acceptsHead()) return false
    }
    return true
  }

  #acceptsHead(): boolean {
    const length = this.#head.readInt32LE(0)
    const code = this.#head.readInt32LE(12)
    const before = header_bytes + (preambles[code] ?? max_message_bytes)
    if (length < before + 5 || length > max_message_bytes) return false
    if (this.#needed === header_bytes) {
      this.#needed = before + 4
      return true
    }
    // Flags, by which further messages would follow, and the kind of the section; or the number of documents.
    const isOne =
      code === 1 ? this.#head.readInt32LE(header_bytes + 16) === 1 : this.#head.readUIntLE(header_bytes, 5) === 0
    this.#left = length - this.#filled
    this.#filled = 0
    this.#needed = header_bytes
    return isOne && this.#head.readInt32LE(before) === length - before
  }
}
