// A window over text of any length: whole records at its beginning, and at its end the part of one that more bytes complete.
import { type ByteSource, fillBuffer } from './byte-source.ts'
import { max_beginning_bytes, max_record_bytes } from './read-options.ts'

const first_bytes = 65_536
const lineFeed = 10

export class TextWindow {
  /** The window; bytes beyond `end` mean nothing. */
  bytes = new Uint8Array(first_bytes + 1)
  end = 0
  /** Bytes of the text before the window. */
  base = 0
  /** Whether the window ends where the text ends. Its last byte ends a line then, and may be added. */
  isLast = false
  /** Whether the line end at the end was added. */
  isEndAdded = false
  /** The byte that ends a line. */
  lineEnd = lineFeed
  readonly #source: ByteSource
  #findLineEnd: ((text: Uint8Array) => number) | undefined

  /** `findLineEnd`: finds the byte that ends the lines in the beginning of the text; default: a line feed. */
  constructor(source: ByteSource, findLineEnd?: (text: Uint8Array) => number) {
    this.#source = source
    this.#findLineEnd = findLineEnd
  }

  /**
   * Moves the window to `start`, and fills it. Returns false where that adds nothing, since the record at its beginning has
   * more than `max_record_bytes`.
   */
  async moveTo(start: number): Promise<boolean> {
    if (start === 0 && this.end === max_record_bytes) return false
    this.bytes.copyWithin(0, start, this.end)
    this.base += start
    this.end = await fillBuffer(this.#source, this.bytes.subarray(0, -1), this.end - start)
    if (this.end + 1 === this.bytes.length && this.end < max_record_bytes) await this.#widen()
    this.lineEnd = this.#findLineEnd?.(this.bytes.subarray(0, this.end)) ?? this.lineEnd
    this.#findLineEnd = undefined
    this.isLast = this.end + 1 < this.bytes.length
    this.isEndAdded = this.isLast && this.end > 0 && this.bytes[this.end - 1] !== this.lineEnd
    if (this.isEndAdded) this.bytes[this.end++] = this.lineEnd
    return true
  }

  /** The beginning of the line from this position on, for a report of it. */
  beginningOf(from: number): Uint8Array {
    const most = Math.min(this.end, from + max_beginning_bytes)
    const lineEnd = this.bytes.subarray(from, most).indexOf(this.lineEnd)
    return this.bytes.subarray(from, lineEnd < 0 ? most : from + lineEnd)
  }

  async #widen(): Promise<void> {
    const wider = new Uint8Array(max_record_bytes + 1)
    wider.set(this.bytes)
    this.bytes = wider
    this.end = await fillBuffer(this.#source, wider.subarray(0, -1), this.end)
  }
}
