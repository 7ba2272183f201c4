// Takes ranges of any length from pieces of bytes that arrive one after the other.
import { DataFault } from '../../../daemon/kernel/data/data-fault.ts'

export class PieceReader {
  readonly #pieces: AsyncIterator<Uint8Array>
  readonly #subject: string
  #piece: Uint8Array = new Uint8Array(0)

  /** `subject`: begins the messages of faults. */
  constructor(pieces: AsyncIterable<Uint8Array>, subject: string) {
    this.#pieces = pieces[Symbol.asyncIterator]()
    this.#subject = subject
  }

  /** Whether all bytes are taken. */
  async isAtEnd(): Promise<boolean> {
    return this.#piece.length === 0 && !(await this.#next())
  }

  /** Returns the next bytes, which are valid until the next call. Throws `DataFault` where there are fewer. */
  async take(length: number): Promise<Uint8Array> {
    if (length <= this.#piece.length) return this.#cut(length)
    const bytes = new Uint8Array(length)
    for (let at = 0; at < length; ) {
      await this.#require()
      const part = this.#cut(Math.min(length - at, this.#piece.length))
      bytes.set(part, at)
      at += part.length
    }
    return bytes
  }

  /** Leaves the next bytes out. Throws `DataFault` where there are fewer. */
  async skip(length: number): Promise<void> {
    for (let left = length; left > 0; ) {
      await this.#require()
      left -= this.#cut(Math.min(left, this.#piece.length)).length
    }
  }

  /** Leaves all bytes out that are left, so that what the source checks at its end is checked. */
  async skipRest(): Promise<void> {
    while (!(await this.isAtEnd())) this.#piece = new Uint8Array(0)
  }

  /** Ends the source before its end. */
  async close(): Promise<void> {
    await this.#pieces.return?.()
  }

  #cut(length: number): Uint8Array {
    const part = this.#piece.subarray(0, length)
    this.#piece = this.#piece.subarray(length)
    return part
  }

  async #require(): Promise<void> {
    if (await this.isAtEnd()) throw new DataFault(`damaged: ${this.#subject} ends too early`)
  }

  async #next(): Promise<boolean> {
    for (;;) {
      const { value, done } = await this.#pieces.next()
      if (done) return false
      this.#piece = value
      if (value.length > 0) return true
    }
  }
}
