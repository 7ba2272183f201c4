// Distinct texts by number, in bytes outside the heap of JavaScript: a million of them cost the collector nothing.
import { hashText, textHash } from './text-hash.ts'

/** Bytes of a code unit above ASCII: a mark, and the unit. */
const wide_bytes = 3
const wide_mark = 0x80
const max_load = 0.7
const max_chunk_units = 8_192

/** Numbers texts in the order of their first appearance. A number stays until the table is dropped. */
export class TextTable {
  #bytes = new Uint8Array(256)
  #starts = new Uint32Array(17)
  #hashes = new Uint32Array(16)
  /** Number of a text and one, at the place of its hash or after it; 0: free. A power of two of places. */
  #places = new Uint32Array(32)
  #units = new Uint16Array(256)
  #size = 0

  get size(): number {
    return this.#size
  }

  get bytes(): number {
    const arrays = [this.#bytes, this.#starts, this.#hashes, this.#places]
    return arrays.reduce((sum, { byteLength }) => sum + byteLength, 0)
  }

  /** Returns the number of a text; -1 for one that the table lacks. */
  find(text: string): number {
    hashText(text)
    return this.#places[this.#findPlace(text, textHash.low)]! - 1
  }

  /** Returns the number of a text, which is added if the table lacks it. */
  add(text: string): number {
    hashText(text)
    const hash = textHash.low
    const place = this.#findPlace(text, hash)
    const known = this.#places[place]!
    if (known > 0) return known - 1
    const code = this.#size++
    this.#append(text, code, hash)
    this.#places[place] = code + 1
    if (this.#size > this.#places.length * max_load) this.#growPlaces()
    return code
  }

  textOf(code: number): string {
    const from = this.#starts[code]!
    const to = this.#starts[code + 1]!
    if (this.#units.length < to - from) this.#units = new Uint16Array(2 * (to - from))
    const units = this.#units
    let length = 0
    for (let at = from; at < to; at++) {
      const byte = this.#bytes[at]!
      if (byte < wide_mark) units[length++] = byte
      else units[length++] = (this.#bytes[++at]! << 8) | this.#bytes[++at]!
    }
    if (length <= max_chunk_units) return toText(units, 0, length)
    let text = ''
    for (let at = 0; at < length; at += max_chunk_units)
      text += toText(units, at, Math.min(length, at + max_chunk_units))
    return text
  }

  /** Whether one text is before another in the order of strings, which that of the bytes is as well. */
  isBefore(code: number, other: number): boolean {
    const bytes = this.#bytes
    const [end, otherEnd] = [this.#starts[code + 1]!, this.#starts[other + 1]!]
    let [at, otherAt] = [this.#starts[code]!, this.#starts[other]!]
    while (at < end && otherAt < otherEnd && bytes[at] === bytes[otherAt]) {
      at++
      otherAt++
    }
    return otherAt < otherEnd && (at === end || bytes[at]! < bytes[otherAt]!)
  }

  #findPlace(text: string, hash: number): number {
    const mask = this.#places.length - 1
    for (let place = hash & mask; ; place = (place + 1) & mask) {
      const code = this.#places[place]! - 1
      if (code < 0 || (this.#hashes[code] === hash && this.#isText(code, text))) return place
    }
  }

  #isText(code: number, text: string): boolean {
    const end = this.#starts[code + 1]!
    let at = this.#starts[code]!
    for (let index = 0; index < text.length; index++) {
      const unit = text.charCodeAt(index)
      if (at >= end) return false
      if (unit < wide_mark) {
        if (this.#bytes[at++] !== unit) return false
      } else {
        if (this.#bytes[at] !== wide_mark || this.#bytes[at + 1] !== unit >> 8 || this.#bytes[at + 2] !== (unit & 255))
          return false
        at += wide_bytes
      }
    }
    return at === end
  }

  #append(text: string, code: number, hash: number): void {
    let at = this.#starts[code]!
    if (at + text.length * wide_bytes > this.#bytes.length)
      this.#bytes = grown(this.#bytes, at + text.length * wide_bytes)
    for (let index = 0; index < text.length; index++) {
      const unit = text.charCodeAt(index)
      if (unit < wide_mark) this.#bytes[at++] = unit
      else {
        this.#bytes[at] = wide_mark
        this.#bytes[at + 1] = unit >> 8
        this.#bytes[at + 2] = unit & 255
        at += wide_bytes
      }
    }
    if (code + 1 >= this.#starts.length) {
      this.#starts = grown(this.#starts, code + 2)
      this.#hashes = grown(this.#hashes, code + 2)
    }
    this.#starts[code + 1] = at
    this.#hashes[code] = hash
  }

  #growPlaces(): void {
    const places = new Uint32Array(this.#places.length * 2)
    const mask = places.length - 1
    for (let code = 0; code < this.#size; code++) {
      let place = this.#hashes[code]! & mask
      while (places[place] !== 0) place = (place + 1) & mask
      places[place] = code + 1
    }
    this.#places = places
  }
}

function toText(units: Uint16Array, from: number, to: number): string {
  return String.fromCharCode.apply(null, units.subarray(from, to) as unknown as number[])
}

/** A copy with room for `least` items and half as many again. */
export function grown<T extends Uint8Array | Uint16Array | Uint32Array | Int32Array | Float64Array>(
  array: T,
  least: number,
): T {
  const larger = new (array.constructor as new (length: number) => T)(Math.ceil(least * 1.5))
  larger.set(array)
  return larger
}
