// Distinct values of one column of a file, as bytes. Values are found by their bytes, without decoding them to strings.

/** Small at first, since the columns of a single record have a table each. */
const initial_slots = 1 << 4
const initial_bytes = 1 << 6

/** A tag does not distinguish lengths from here on; such values exceed the words of a slot and are compared in full. */
const long_bytes = 9

/** Masks for the first and the second four bytes of a value, by its length up to eight. */
const low_masks = Int32Array.of(0, 0xff, 0xffff, 0xffffff, -1, -1, -1, -1, -1)
const high_masks = Int32Array.of(0, 0, 0, 0, 0, 0xff, 0xffff, 0xffffff, -1)

/** Numbers byte strings in the order of their first appearance. */
export class ValueTable {
  #bytes = new Uint8Array(initial_bytes)
  #starts = new Uint32Array(initial_slots)
  /**
   * Four entries for each value: its hash and length, its number plus one (0 marks a free slot), and its first eight
   * bytes, so that a short value needs no other lookup.
   */
  #slots = new Int32Array(initial_slots * 4)
  #mask = initial_slots - 1
  #size = 0
  readonly #encoder = new TextEncoder()
  /** The bytes that values were last added from, as words too; the stored bytes as words. */
  #source: Uint8Array = new Uint8Array(0)
  #words: DataView = new DataView(this.#source.buffer)
  #ownWords = new DataView(this.#bytes.buffer)

  get size(): number {
    return this.#size
  }

  /** Adds a text and returns its number. */
  addText(text: string): number {
    const bytes = this.#encoder.encode(text)
    return this.add(bytes, 0, bytes.length)
  }

  /** Adds the value from `bytes[from]` to `bytes[to]` and returns its number. */
  add(bytes: Uint8Array, from: number, to: number): number {
    if (bytes !== this.#source) this.#readFrom(bytes)
    const words = this.#words
    const length = to - from
    const short = length < long_bytes ? length : 8
    const isNearEnd = from + 8 > words.byteLength
    const low = isNearEnd ? packWord(bytes, from, to) : words.getInt32(from, true) & low_masks[short]!
    const high = isNearEnd ? packWord(bytes, from + 4, to) : words.getInt32(from + 4, true) & high_masks[short]!
    let hash = Math.imul(low ^ Math.imul(high, 0x2c1b3c6d), 0x9e3779b1) ^ length
    if (length >= long_bytes) hash = this.#hashOfRest(hash, from + 8, to)
    hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b)
    hash ^= hash >>> 14
    const tag = (hash & ~15) | (length < long_bytes ? length : long_bytes)
    const [slots, mask] = [this.#slots, this.#mask]
    let slot = (hash >>> 4) & mask
    for (let number = slots[slot * 4 + 1]!; number !== 0; number = slots[slot * 4 + 1]!) {
      const at = slot * 4
      if (slots[at] === tag && slots[at + 2] === low && slots[at + 3] === high) {
        if (length < long_bytes || this.#isEqual(number - 1, from, to)) return number - 1
      }
      slot = (slot + 1) & mask
    }
    return this.#append(slot * 4, tag, low, high, bytes, from, to)
  }

  #readFrom(bytes: Uint8Array): void {
    this.#source = bytes
    this.#words = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  /** Hashes four bytes at a time; the last four may overlap. */
  #hashOfRest(first: number, from: number, to: number): number {
    const words = this.#words
    let hash = first
    for (let at = from; at < to - 4; at += 4) {
      hash = Math.imul(hash ^ words.getInt32(at, true), 0x9e3779b1)
      hash ^= hash >>> 15
    }
    return Math.imul(hash ^ words.getInt32(to - 4, true), 0x9e3779b1)
  }

  /** Compares two values whose first eight bytes are equal. */
  #isEqual(number: number, from: number, to: number): boolean {
    const start = this.#starts[number]!
    if (this.#starts[number + 1]! - start !== to - from) return false
    const [ownWords, words] = [this.#ownWords, this.#words]
    for (let at = from + 8, other = start + 8; at < to - 4; at += 4, other += 4) {
      if (ownWords.getInt32(other, true) !== words.getInt32(at, true)) return false
    }
    return ownWords.getInt32(start + to - from - 4, true) === words.getInt32(to - 4, true)
  }

  #append(slot: number, tag: number, low: number, high: number, bytes: Uint8Array, from: number, to: number): number {
    const number = this.#size++
    if (number + 2 > this.#starts.length) this.#starts = widenArray(this.#starts, this.#starts.length * 2)
    const start = this.#starts[number]!
    const end = start + to - from
    if (end > max_bytes) throw new RangeError(`the values of one column have more than ${max_bytes} bytes`)
    if (end > this.#bytes.length) this.#widenBytes(end)
    const stored = this.#bytes
    for (let at = from, other = start; at < to; at++, other++) stored[other] = bytes[at]!
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
    const wider = new Uint8Array(Math.min(max_bytes, Math.max(needed, this.#bytes.length * 2)))
    wider.set(this.#bytes)
    this.#bytes = wider
    this.#ownWords = new DataView(wider.buffer)
  }

  #rehash(): void {
    const old = this.#slots
    const slots = new Int32Array(old.length * 2)
    const mask = slots.length / 4 - 1
    for (let at = 0; at < old.length; at += 4) {
      if (old[at + 1] === 0) continue
      let slot = (old[at]! >>> 4) & mask
      while (slots[slot * 4 + 1] !== 0) slot = (slot + 1) & mask
      const to = slot * 4
      slots[to] = old[at]!
      slots[to + 1] = old[at + 1]!
      slots[to + 2] = old[at + 2]!
      slots[to + 3] = old[at + 3]!
    }
    this.#slots = slots
    this.#mask = mask
  }

  /** Returns the bytes of one value; valid until the next value is added. */
  bytesOf(number: number): Uint8Array {
    return this.#bytes.subarray(this.#starts[number]!, this.#starts[number + 1]!)
  }

  /** All values in sequence, and the start of each; valid until the next value is added. */
  get all(): { readonly bytes: Uint8Array; readonly starts: Uint32Array } {
    const starts = this.#starts.subarray(0, this.#size + 1)
    return { bytes: this.#bytes.subarray(0, starts[this.#size]!), starts }
  }

  /** Frees the memory that only `add` needs; nothing may be added afterwards. */
  close(): void {
    this.#slots = new Int32Array(0)
    this.#readFrom(new Uint8Array(0))
  }
}

/** Packs at most four bytes into one number, the first byte lowest. */
function packWord(bytes: Uint8Array, from: number, to: number): number {
  let value = 0
  for (let at = Math.min(to, from + 4) - 1; at >= from; at--) value = (value << 8) | bytes[at]!
  return value
}

/** Offsets into the bytes have 32 bits. */
const max_bytes = 2 ** 32 - 1

function widenArray(from: Uint32Array, length: number): Uint32Array<ArrayBuffer> {
  const into = new Uint32Array(length)
  into.set(from)
  return into
}
