// Writes comma-separated lines as bytes in chunks, without a string for each of millions of lines.
import type { LensRecords } from '../../roles/resolution/engine/records/records.ts'

const chunk_bytes = 1 << 20
/** Free bytes kept for short parts: numbers and separators. */
const margin_bytes = 64
const max_cached_cells = 64
/** Up to this number, integer arithmetic yields the digits. */
const max_int32 = 2_147_483_647
const [comma, feed, point, minus, nought] = [44, 10, 46, 45, 48]

/** Writes cells from left to right; `endLine` ends a line, and `flush` writes the last chunk. */
export class CsvWriter {
  readonly #write: (bytes: Uint8Array) => void
  readonly #bytes = Buffer.allocUnsafe(chunk_bytes)
  #at = 0
  #isFirst = true
  readonly #cells = new Map<string, Uint8Array>()

  /** `write` must consume the bytes before it returns, since the buffer is reused. */
  constructor(write: (bytes: Uint8Array) => void) {
    this.#write = write
  }

  #begin(): void {
    if (this.#at + margin_bytes > chunk_bytes) this.flush()
    if (!this.#isFirst) this.#bytes[this.#at++] = comma
    this.#isFirst = false
  }

  writeTexts(values: readonly string[]): void {
    for (const value of values) this.writeText(value)
    this.endLine()
  }

  writeText(value: string): void {
    this.writeCell(this.encodeCell(value))
  }

  /** Writes the result of `encodeCell`. */
  writeCell(bytes: Uint8Array): void {
    this.#begin()
    if (this.#at + bytes.length + margin_bytes > chunk_bytes) this.flush()
    if (bytes.length + margin_bytes > chunk_bytes) {
      this.#write(bytes)
      return
    }
    for (let at = 0; at < bytes.length; at++) this.#bytes[this.#at++] = bytes[at] ?? 0
  }

  /** Quotes a text that contains a comma, a quotation mark or a line end (RFC 4180). Caches recent cells, as most repeat. */
  encodeCell(value: string): Uint8Array {
    const known = this.#cells.get(value)
    if (known) return known
    const quoted = /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value
    const bytes = Buffer.from(quoted)
    if (this.#cells.size >= max_cached_cells) this.#cells.clear()
    this.#cells.set(value, bytes)
    return bytes
  }

  writeId(records: LensRecords, row: number): void {
    this.#begin()
    const end = records.writeId(row, this.#bytes, this.#at)
    if (end >= 0 && !needsQuoting(this.#bytes, this.#at, end)) {
      this.#at = end
      return
    }
    // Removes the separator and writes the cell as a text instead.
    if (this.#at > 0 && this.#bytes[this.#at - 1] === comma) this.#at--
    else this.#isFirst = true
    this.writeText(records.idOf(row))
  }

  /** A whole number from 0. */
  writeInteger(value: number): void {
    this.#begin()
    this.#digits(value, 1)
  }

  /** A number with four decimals. */
  writeFraction(value: number): void {
    this.#begin()
    const parts = Math.round(Math.abs(value) * 10_000)
    if (value < 0 && parts > 0) this.#bytes[this.#at++] = minus
    const units = Math.floor(parts / 10_000)
    this.#digits(units, 1)
    this.#bytes[this.#at++] = point
    this.#digits(parts - units * 10_000, 4)
  }

  #digits(value: number, least: number): void {
    if (value > max_int32) {
      this.#at += this.#bytes.write(String(value).padStart(least, '0'), this.#at, 'latin1')
      return
    }
    let count = least
    for (let rest = (value / 10 ** least) | 0; rest >= 1; rest = (rest / 10) | 0) count++
    let rest = value | 0
    for (let at = this.#at + count - 1; at >= this.#at; at--) {
      const next = (rest / 10) | 0
      this.#bytes[at] = nought + rest - next * 10
      rest = next
    }
    this.#at += count
  }

  endLine(): void {
    this.#bytes[this.#at++] = feed
    this.#isFirst = true
  }

  flush(): void {
    this.#write(this.#bytes.subarray(0, this.#at))
    this.#at = 0
  }
}

function needsQuoting(bytes: Uint8Array, from: number, to: number): boolean {
  for (let at = from; at < to; at++) {
    const byte = bytes[at]
    if (byte === 34 || byte === comma || byte === feed || byte === 13) return true
  }
  return false
}
