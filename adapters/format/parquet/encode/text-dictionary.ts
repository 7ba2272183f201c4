// The different texts of a column of a row group, in the order of their first rows.
import { doubleLength } from '../../../../daemon/kernel/data/data-block.ts'
import { ByteBuffer, copyRange } from './byte-buffer.ts'

const first_slots = 1 << 10
/** Texts and bytes of a dictionary: more of them are written as they are. */
const max_texts = 1 << 16
const max_bytes = 1 << 20

export class TextDictionary {
  /** The texts, each after its length in four bytes: the page of the dictionary. */
  readonly texts = new ByteBuffer(1 << 16)
  #offsets = new Int32Array(first_slots)
  #hashes = new Int32Array(first_slots)
  /** Position of a text, plus one, by its hash; 0 for none. */
  #slots = new Int32Array(first_slots * 2)
  size = 0

  /** Returns the position of the text, which it adds if it is new; -1 if the dictionary is full. */
  find(bytes: Uint8Array, start: number, end: number): number {
    const hash = hashRange(bytes, start, end)
    const mask = this.#slots.length - 1
    let slot = hash & mask
    for (;;) {
      const at = this.#slots[slot]! - 1
      if (at < 0) break
      if (this.#hashes[at] === hash && this.#equals(at, bytes, start, end)) return at
      slot = (slot + 1) & mask
    }
    return this.#add(bytes, start, end, hash, slot)
  }

  #equals(at: number, bytes: Uint8Array, start: number, end: number): boolean {
    const { bytes: known, view } = this.texts
    const offset = this.#offsets[at]!
    if (view.getUint32(offset, true) !== end - start) return false
    const shift = offset + 4 - start
    for (let each = start; each < end; each++) if (known[each + shift] !== bytes[each]) return false
    return true
  }

  #add(bytes: Uint8Array, start: number, end: number, hash: number, slot: number): number {
    const length = end - start
    if (this.size === max_texts || this.texts.length + length + 4 > max_bytes) return -1
    const offset = this.texts.length
    this.texts.addUint32(length)
    this.texts.reserve(length)
    copyRange(bytes, start, end, this.texts.bytes, this.texts.length)
    this.texts.length += length
    this.#offsets[this.size] = offset
    this.#hashes[this.size] = hash
    this.#slots[slot] = ++this.size
    if (this.size === this.#offsets.length) this.#widen()
    return this.size - 1
  }

  /** Half of the slots are empty at least, so that a search ends soon. */
  #widen(): void {
    this.#offsets = doubleLength(this.#offsets)
    this.#hashes = doubleLength(this.#hashes)
    this.#slots = new Int32Array(this.#offsets.length * 2)
    const mask = this.#slots.length - 1
    for (let at = 0; at < this.size; at++) {
      let slot = this.#hashes[at]! & mask
      while (this.#slots[slot] !== 0) slot = (slot + 1) & mask
      this.#slots[slot] = at + 1
    }
  }

  /** Range of a text in `texts`, with its length before it. */
  range(at: number): readonly [start: number, end: number] {
    const start = this.#offsets[at]!
    return [start, start + 4 + this.texts.view.getUint32(start, true)]
  }

  clear(): void {
    this.texts.clear()
    this.#slots.fill(0)
    this.size = 0
  }
}

/** FNV-1a of 32 bits. */
function hashRange(bytes: Uint8Array, start: number, end: number): number {
  let hash = 0x811c9dc5 | 0
  for (let at = start; at < end; at++) hash = Math.imul(hash ^ bytes[at]!, 0x01000193)
  return hash ^ (hash >>> 15)
}
