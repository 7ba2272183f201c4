// Distinct values of one column of a file, as bytes: a value that came before is found by its bytes, and no string is made of it.

const first_slots = 1 << 10
const first_hash = 0x811c9dc5
const prime = 0x01000193

/** Lengths from here on are not told apart by a tag. */
const long = 9

/** One byte more of a value; FNV-1a, by Fowler, Noll and Vo. */
export function hashed(hash: number, byte: number): number {
  return Math.imul(hash ^ byte, prime)
}

export function hashOf(bytes: Uint8Array, from: number, to: number): number {
  let hash = first_hash
  for (let at = from; at < to; at++) hash = Math.imul(hash ^ bytes[at]!, prime)
  return hash
}

export const hashOfNothing = first_hash

/** Numbers byte strings in the order of their first appearance. */
export class ValueTable {
  #bytes = new Uint8Array(1 << 14)
  #starts = new Uint32Array(1 << 8)
  /**
   * Four places for each: its hash and length, its number and one (nought is free), and its first eight bytes, so that a
   * short value is known without a look elsewhere.
   */
  #slots = new Int32Array(first_slots * 4)
  #mask = first_slots - 1
  #size = 0
  readonly #encoder = new TextEncoder()

  get size(): number {
    return this.#size
  }

  /** The number of a text. */
  addText(text: string): number {
    const bytes = this.#encoder.encode(text)
    return this.add(bytes, 0, bytes.length)
  }

  /** The number of `bytes[from]` to `bytes[to]`; `known` is their hash by `hashOf`. */
  add(bytes: Uint8Array, from: number, to: number, known = hashOf(bytes, from, to)): number {
    const length = to - from
    const mixed = Math.imul(known ^ (known >>> 15), 0x9e3779b1)
    const tag = (mixed & ~15) | Math.min(length, long)
    const low = packed(bytes, from, to)
    const high = packed(bytes, from + 4, to)
    const [slots, mask] = [this.#slots, this.#mask]
    let slot = (mixed >>> 4) & mask
    for (let number = slots[slot * 4 + 1]!; number !== 0; number = slots[slot * 4 + 1]!) {
      const at = slot * 4
      if (slots[at] === tag && slots[at + 2] === low && slots[at + 3] === high) {
        if (length < long || this.#isEqual(number - 1, bytes, from, to)) return number - 1
      }
      slot = (slot + 1) & mask
    }
    return this.#append(slot * 4, tag, low, high, bytes, from, to)
  }

  #isEqual(known: number, bytes: Uint8Array, from: number, to: number): boolean {
    const start = this.#starts[known]!
    if (this.#starts[known + 1]! - start !== to - from) return false
    const mine = this.#bytes
    for (let at = from, other = start; at < to; at++, other++) if (mine[other] !== bytes[at]) return false
    return true
  }

  #append(slot: number, tag: number, low: number, high: number, bytes: Uint8Array, from: number, to: number): number {
    const number = this.#size++
    if (number + 2 > this.#starts.length) this.#starts = widened(this.#starts, this.#starts.length * 2)
    const start = this.#starts[number]!
    const end = start + to - from
    if (end > most_bytes) throw new RangeError(`the values of one column are more than ${most_bytes} bytes`)
    if (end > this.#bytes.length) this.#widenBytes(end)
    const mine = this.#bytes
    for (let at = from, other = start; at < to; at++, other++) mine[other] = bytes[at]!
    this.#starts[number + 1] = end
    const slots = this.#slots
    slots[slot] = tag
    slots[slot + 1] = number + 1
    slots[slot + 2] = low
    slots[slot + 3] = high
    if (this.#size * 2 > this.#mask) this.#rehash()
    return number
  }

  #widenBytes(needed: number): void {
    const wider = new Uint8Array(Math.min(most_bytes, Math.max(needed, this.#bytes.length * 2)))
    wider.set(this.#bytes)
    this.#bytes = wider
  }

  #rehash(): void {
    const old = this.#slots
    const slots = new Int32Array(old.length * 2)
    const mask = slots.length / 4 - 1
    for (let at = 0; at < old.length; at += 4) {
      if (old[at + 1] === 0) continue
      let slot = (old[at]! >>> 4) & mask
      while (slots[slot * 4 + 1] !== 0) slot = (slot + 1) & mask
      for (let place = 0; place < 4; place++) slots[slot * 4 + place] = old[at + place]!
    }
    this.#slots = slots
    this.#mask = mask
  }

  /** The bytes of one value; good until the next is added. */
  bytesOf(number: number): Uint8Array {
    return this.#bytes.subarray(this.#starts[number]!, this.#starts[number + 1]!)
  }

  /** All values one after the other, and where each begins; good until the next is added. */
  get all(): { readonly bytes: Uint8Array; readonly starts: Uint32Array } {
    const starts = this.#starts.subarray(0, this.#size + 1)
    return { bytes: this.#bytes.subarray(0, starts[this.#size]!), starts }
  }

  /** Nothing more will be added: what only adding needs is given up. */
  close(): void {
    this.#slots = new Int32Array(0)
  }
}

/** At most four bytes as one number. */
function packed(bytes: Uint8Array, from: number, to: number): number {
  let value = 0
  for (let at = from, end = Math.min(to, from + 4); at < end; at++) value = (value << 8) | bytes[at]!
  return value
}

/** What a place in the bytes is told by has 32 bits. */
const most_bytes = 2 ** 32 - 1

function widened(from: Uint32Array, length: number): Uint32Array<ArrayBuffer> {
  const into = new Uint32Array(length)
  into.set(from)
  return into
}
