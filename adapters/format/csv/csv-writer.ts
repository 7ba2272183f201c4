// Writes comma-separated lines as bytes in chunks, without a string for each of millions of lines.
import { escapeFormula } from '../../../daemon/kernel/text/formula-cell.ts'

const chunk_bytes = 1 << 20
/** Free bytes kept for short parts: numbers and separators. */
const margin_bytes = 64
const max_cached_cells = 64
/** Up to this number, integer arithmetic yields the digits. */
const max_int32 = 2_147_483_647
const [comma, feed, point, minus, zero] = [44, 10, 46, 45, 48]
/** Of cells that `escapeFormula` may change; the full-width signs share their first byte. */
const formulaBytes = new Set(Buffer.from("'=@+-\0\t\n\r＝"))

/** Ids of records by row; `writeId` writes one as UTF-8 at `at` and returns the end, or -1 if there is no room. */
type RecordIdSource = {
  idOf(row: number): string
  writeId(row: number, into: Uint8Array, at: number): number
}

/** Writes cells from left to right; `endLine` ends a line, and `flush` writes the last chunk. */
export class CsvWriter {
  readonly #write: (bytes: Uint8Array) => void
  readonly #bytes = Buffer.allocUnsafe(chunk_bytes)
  #offset = 0
  #isFirst = true
  readonly #cells = new Map<string, Uint8Array>()

  /** `write` must consume the bytes before it returns, since the buffer is reused. */
  constructor(write: (bytes: Uint8Array) => void) {
    this.#write = write
  }

  #begin(): void {
    if (this.#offset + margin_bytes > chunk_bytes) this.flush()
    if (!this.#isFirst) this.#bytes[this.#offset++] = comma
    this.#isFirst = false
  }

  writeTexts(values: readonly string[]): void {
    for (const value of values) this.writeText(value)
    this.endLine()
  }

  writeText(value: string): void {
    this.writeCell(this.encodeCell(value))
  }

  /** Writes a number, a truth value or a time as it is: it needs no quotation marks and is not a formula. */
  writePlain(text: string): void {
    this.writeCell(Buffer.from(text, 'latin1'))
  }

  /** Writes a text of ASCII that needs no quotation marks and is not a formula. Returns false for another, and writes nothing. */
  writePlainBytes(bytes: Uint8Array, start: number, end: number): boolean {
    if (end - start + margin_bytes * 2 > chunk_bytes || formulaBytes.has(bytes[start] ?? 0)) return false
    if (this.#offset + end - start + margin_bytes * 2 > chunk_bytes) this.flush()
    let at = this.#offset
    if (!this.#isFirst) this.#bytes[at++] = comma
    for (let index = start; index < end; index++) {
      const byte = bytes[index] ?? 0
      if (byte >= 0x80 || byte === 34 || byte === comma || byte === feed || byte === 13) return false
      this.#bytes[at++] = byte
    }
    this.#offset = at
    this.#isFirst = false
    return true
  }

  /** Writes the result of `encodeCell`. */
  writeCell(bytes: Uint8Array): void {
    this.#begin()
    if (this.#offset + bytes.length + margin_bytes > chunk_bytes) this.flush()
    if (bytes.length + margin_bytes > chunk_bytes) {
      this.#write(bytes)
      return
    }
    for (let index = 0; index < bytes.length; index++) this.#bytes[this.#offset++] = bytes[index] ?? 0
  }

  /**
   * Quotes a text that contains a comma, a quotation mark or a line end (RFC 4180), and disarms formulas. Caches recent cells,
   * as most repeat.
   */
  encodeCell(value: string): Uint8Array {
    const cached = this.#cells.get(value)
    if (cached) return cached
    const text = escapeFormula(value)
    const quoted = /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
    const bytes = Buffer.from(quoted)
    if (this.#cells.size >= max_cached_cells) this.#cells.clear()
    this.#cells.set(value, bytes)
    return bytes
  }

  writeId(records: RecordIdSource, row: number): void {
    this.#begin()
    const end = records.writeId(row, this.#bytes, this.#offset)
    if (end >= 0 && !needsText(this.#bytes, this.#offset, end)) {
      this.#offset = end
      return
    }
    // Removes the separator and writes the cell as a text instead.
    if (this.#offset > 0 && this.#bytes[this.#offset - 1] === comma) this.#offset--
    else this.#isFirst = true
    this.writeText(records.idOf(row))
  }

  /** A whole number from 0. */
  writeInteger(value: number): void {
    this.#begin()
    this.#writeDigits(value, 1)
  }

  /** A number with four decimals. */
  writeFraction(value: number): void {
    this.#begin()
    const scaled = Math.round(Math.abs(value) * 10_000)
    if (value < 0 && scaled > 0) this.#bytes[this.#offset++] = minus
    const units = Math.floor(scaled / 10_000)
    this.#writeDigits(units, 1)
    this.#bytes[this.#offset++] = point
    this.#writeDigits(scaled - units * 10_000, 4)
  }

  #writeDigits(value: number, min_digits: number): void {
    if (value > max_int32) {
      this.#offset += this.#bytes.write(String(value).padStart(min_digits, '0'), this.#offset, 'latin1')
      return
    }
    let count = min_digits
    for (let higher = (value / 10 ** min_digits) | 0; higher >= 1; higher = (higher / 10) | 0) count++
    let remaining = value | 0
    for (let index = this.#offset + count - 1; index >= this.#offset; index--) {
      const quotient = (remaining / 10) | 0
      this.#bytes[index] = zero + remaining - quotient * 10
      remaining = quotient
    }
    this.#offset += count
  }

  endLine(): void {
    this.#bytes[this.#offset++] = feed
    this.#isFirst = true
  }

  flush(): void {
    this.#write(this.#bytes.subarray(0, this.#offset))
    this.#offset = 0
  }
}

/** Whether a cell needs quoting, or may be a formula. */
function needsText(bytes: Uint8Array, start: number, end: number): boolean {
  if (formulaBytes.has(bytes[start] ?? 0)) return true
  for (let index = start; index < end; index++) {
    const byte = bytes[index]
    if (byte === 34 || byte === comma || byte === feed || byte === 13) return true
  }
  return false
}
