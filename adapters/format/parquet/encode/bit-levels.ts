// Runs of small numbers as the hybrid of run lengths and packed bits that Parquet has for levels and positions in dictionaries.
import type { ByteBuffer } from './byte-buffer.ts'

/** Whether each row of a page has a value. */
export class PresenceBits {
  /** Set once a row has no value. */
  #bits = new Uint8Array(1 << 10)
  rows = 0
  present = 0

  /** Adds the rows of the range; those without a value start below 0. */
  add(starts: Int32Array, from: number, to: number): void {
    let row = from
    // While all rows have a value, they are counted alone.
    if (this.present === this.rows) {
      while (row < to && starts[row]! >= 0) row++
      this.rows += row - from
      this.present += row - from
      if (row < to) this.#begin()
    }
    if (row < to) this.#reserve((this.rows + to - row) >> 3)
    for (; row < to; row++) {
      if (starts[row]! >= 0) {
        this.#set(this.rows)
        this.present++
      }
      this.rows++
    }
  }

  #begin(): void {
    this.#reserve(this.rows >> 3)
    this.#bits.fill(0)
    for (let row = 0; row < this.rows; row++) this.#set(row)
  }

  #set(row: number): void {
    this.#bits[row >> 3] = this.#bits[row >> 3]! | (1 << (row & 7))
  }

  #reserve(at: number): void {
    if (at < this.#bits.length) return
    const wider = new Uint8Array(Math.max(this.#bits.length * 2, at + 1))
    wider.set(this.#bits)
    this.#bits = wider
  }

  /** Adds the levels with their length, as pages of the first version have them. */
  write(into: ByteBuffer): void {
    const start = into.length
    into.addUint32(0)
    if (this.present === this.rows || this.present === 0) {
      into.addVarint(this.rows * 2)
      into.addByte(this.present === 0 ? 0 : 1)
    } else {
      const packed = (this.rows + 7) >> 3
      into.addVarint(packed * 2 + 1)
      into.add(this.#bits.subarray(0, packed))
    }
    into.view.setUint32(start, into.length - start - 4, true)
  }

  clear(): void {
    this.rows = 0
    this.present = 0
  }
}

/** Bits that numbers up to this one take; at least one, since readers differ about none. */
export function countBits(largest: number): number {
  return Math.max(1, 32 - Math.clz32(largest))
}

/** Adds numbers of so many bits, at most 24 each, in groups of eight. */
export function writePacked(values: Int32Array, count: number, width: number, into: ByteBuffer): void {
  const groups = (count + 7) >> 3
  into.addVarint(groups * 2 + 1)
  into.reserve(groups * width + 4)
  const { bytes } = into
  let at = into.length
  let [pending, pending_bits] = [0, 0]
  for (let index = 0; index < groups * 8; index++) {
    pending |= (index < count ? values[index]! : 0) << pending_bits
    pending_bits += width
    for (; pending_bits >= 8; pending_bits -= 8) {
      bytes[at++] = pending & 255
      pending >>>= 8
    }
  }
  into.length = at
}
