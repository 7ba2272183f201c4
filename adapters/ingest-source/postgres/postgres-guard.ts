// Follows the messages of a server of PostgreSQL before the library parses them: it keeps as much as a server sends, and looks for the end of an error without one.
import { RowSourceError } from '../../../daemon/shared/row-source/row-source.ts'

/** Of one message: more than any row that is read. */
const max_message_bytes = 33_554_432
/** Of a page of rows, some of which may have several of the largest values; and before the session is there. */
const max_answer_bytes = 268_435_456
const max_greeting_bytes = 1_048_576
/** More than a page has, or a table has columns. */
const max_answer_rows = 10_000

/** The code, and the length, which counts itself. */
const header_bytes = 5
const code_of = { row: 0x44, error: 0x45, notice: 0x4e }

export function notPostgres(): RowSourceError {
  return new RowSourceError('the server does not answer as a PostgreSQL server does')
}

export class PostgresGuard {
  readonly #header = Buffer.alloc(header_bytes)
  #filled = 0
  /** Bytes of the current message that are still to come. */
  #left = 0
  /** Of an error or a notice: what the next byte is. */
  #next: 'anything' | 'field' | 'text' = 'anything'
  #bytes = 0
  #max_bytes = max_greeting_bytes
  #rows = 0

  /** The answer to a statement follows. */
  begin(): void {
    this.#bytes = 0
    this.#max_bytes = max_answer_bytes
    this.#rows = 0
  }

  /** Throws `RowSourceError` for what no server sends. */
  check(chunk: Buffer): void {
    this.#bytes += chunk.length
    if (this.#bytes > this.#max_bytes)
      throw new RowSourceError(`the server sent more than ${this.#max_bytes} bytes for one answer`)
    for (let at = 0; at < chunk.length; ) {
      if (this.#left > 0) {
        const end = Math.min(chunk.length, at + this.#left)
        this.#left -= end - at
        if (this.#next !== 'anything') this.#checkFields(chunk, at, end)
        at = end
      } else if (this.#filled === 0 && at + header_bytes <= chunk.length) {
        this.#start(chunk, at)
        at += header_bytes
      } else {
        this.#header[this.#filled++] = chunk[at++] ?? 0
        if (this.#filled < header_bytes) continue
        this.#filled = 0
        this.#start(this.#header, 0)
      }
    }
  }

  #start(bytes: Buffer, at: number): void {
    const code = bytes[at]
    this.#left = bytes.readUInt32BE(at + 1) - 4
    if (this.#left < 0 || this.#left > max_message_bytes) throw notPostgres()
    if (code === code_of.row && ++this.#rows > max_answer_rows) throw notPostgres()
    if (code !== code_of.error && code !== code_of.notice) return
    if (this.#left === 0) throw notPostgres()
    this.#next = 'field'
  }

  /** Fields are a letter and a text up to a zero each; another zero is after the last one, and ends the message. */
  #checkFields(chunk: Buffer, from: number, to: number): void {
    for (let at = from; at < to; at++) {
      const isZero = chunk[at] === 0
      const isLast = at === to - 1 && this.#left === 0
      if (isLast !== (isZero && this.#next === 'field')) throw notPostgres()
      if (this.#next === 'field') this.#next = isLast ? 'anything' : 'text'
      else if (isZero) this.#next = 'field'
    }
  }
}
