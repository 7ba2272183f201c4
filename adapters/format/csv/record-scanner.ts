// Finds the fields of one CSV record (RFC 4180 and its dialects).
import { type CsvDialect, markByte } from '../../../daemon/kernel/data/csv-dialect.ts'
import { doubleLength } from '../../../daemon/kernel/data/data-block.ts'
import { carriageReturn, lineFeed } from './line-end.ts'

/** Results of a scan that are not the end of a record. */
export const [incomplete, faulty] = [-1, -2]

const foreignFeed = 'a line feed, in a file whose lines end with carriage returns, in'

export class RecordScanner {
  readonly #delimiter: number
  readonly #quote: number
  readonly #escape: number
  #lineEnd = lineFeed
  /** Positions of the fields; the last one counts while the record is incomplete. */
  starts = new Int32Array(1 << 8)
  ends = new Int32Array(1 << 8)
  fields = 0
  /** Fields with escapes, which `unescape` removes. */
  #escaped: number[] = []
  /** Whether the last field was quoted: the value of an empty one is not missing. */
  isQuoted = false
  /** The fault, and where it is. */
  reason = ''
  at = 0

  constructor(dialect: CsvDialect) {
    this.#delimiter = markByte(dialect.delimiter)
    this.#quote = markByte(dialect.quote)
    this.#escape = markByte(dialect.escape)
  }

  /**
   * Returns the start of the next record, `incomplete`, or `faulty`. Only `unescape` changes the bytes. `lineEnd`: the byte that
   * ends the lines of the file.
   */
  scan(bytes: Uint8Array, from: number, end: number, lineEnd: number): number {
    this.fields = 0
    this.#lineEnd = lineEnd
    this.#escaped = []
    for (let at = from; at < end; at++) {
      this.isQuoted = bytes[at] === this.#quote
      this.starts[this.fields] = this.isQuoted ? at + 1 : at
      at = this.isQuoted ? this.#scanQuoted(bytes, at + 1, end) : this.#scanPlain(bytes, at, end)
      if (at < 0) return at
      if (bytes[at] === lineEnd) return at + 1
    }
    this.isQuoted = false
    this.starts[this.fields] = end
    return incomplete
  }

  #scanPlain(bytes: Uint8Array, from: number, end: number): number {
    const [delimiter, quote, lineEnd] = [this.#delimiter, this.#quote, this.#lineEnd]
    for (let at = from; at < end; at++) {
      const byte = bytes[at]!
      if (byte === quote) return this.#fail('a quotation mark in the middle of', at)
      if (byte === lineFeed && lineEnd !== lineFeed) return this.#fail(foreignFeed, at)
      if (byte !== delimiter && byte !== lineEnd) continue
      const isReturn = byte === lineFeed && at > from && bytes[at - 1] === carriageReturn
      const valueEnd = isReturn ? at - 1 : at
      if (valueEnd > from) this.#push(from, valueEnd)
      else this.#push(-1, -1)
      return at
    }
    return incomplete
  }

  #scanQuoted(bytes: Uint8Array, from: number, end: number): number {
    const valueEnd = this.#findClosingQuote(bytes, from, end)
    if (valueEnd === incomplete) return incomplete
    let at = valueEnd + 1
    if (this.#lineEnd === lineFeed) while (at < end && bytes[at] === carriageReturn) at++
    if (at === end) return incomplete
    if (bytes[at] !== this.#delimiter && bytes[at] !== this.#lineEnd) {
      return this.#fail('text after the closing quotation mark of', at)
    }
    this.#push(from, valueEnd)
    return at
  }

  #findClosingQuote(bytes: Uint8Array, from: number, end: number): number {
    const [quote, escapeByte] = [this.#quote, this.#escape]
    let hasEscape = false
    for (let at = from; at < end; at++) {
      const byte = bytes[at]!
      if (byte !== quote && byte !== escapeByte) continue
      const isEscape = byte === escapeByte && (escapeByte !== quote || (at + 1 < end && bytes[at + 1] === quote))
      if (!isEscape) {
        if (hasEscape) this.#escaped.push(this.fields)
        return at
      }
      hasEscape = true
      at++
    }
    return incomplete
  }

  #fail(reason: string, at: number): number {
    this.reason = `${reason} field ${this.fields + 1}`
    this.at = at
    return faulty
  }

  #push(start: number, end: number): void {
    this.starts[this.fields] = start
    this.ends[this.fields++] = end
    if (this.fields < this.starts.length) return
    this.starts = doubleLength(this.starts)
    this.ends = doubleLength(this.ends)
  }

  /** Shortens the values with escapes in place. The record must be complete, since it cannot be scanned again. */
  unescape(bytes: Uint8Array): void {
    for (const field of this.#escaped) {
      let into = this.starts[field]!
      const end = this.ends[field]!
      for (let at = into; at < end; at++) {
        if (bytes[at] === this.#escape) at++
        bytes[into++] = bytes[at]!
      }
      this.ends[field] = into
    }
  }
}
