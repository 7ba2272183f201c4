// Distinct values of one column of a file, as bytes: a value that came before is found by its bytes, and no string is made of it.

const first_slots = 1 << 10

/** Numbers byte strings in the order of their first appearance. */
export class ValueTable {
  #bytes = new Uint8Array(1 << 14)
  #starts = new Uint32Array(1 << 8)
  #slots = new Int32Array(first_slots).fill(-1)
  #hashes = new Int32Array(1 << 8)
  #size = 0

  get size(): number {
    return this.#size
  }

  /** The number of `bytes[from]` to `bytes[to]`. */
  add(bytes: Uint8Array, from: number, to: number): number {
    let hash = 0x811c9dc5
    for (let at = from; at < to; at++) hash = Math.imul(hash ^ bytes[at]!, 0x01000193)
    hash ^= hash >>> 15
    const mask = this.#slots.length - 1
    let slot = hash & mask
    for (let known = this.#slots[slot]!; known >= 0; known = this.#slots[slot]!) {
      if (this.#hashes[known] === hash && this.#isEqual(known, bytes, from, to)) return known
      slot = (slot + 1) & mask
    }
    return this.#append(slot, hash, bytes, from, to)
  }

  #isEqual(known: number, bytes: Uint8Array, from: number, to: number): boolean {
    const start = this.#starts[known]!
    if (this.#starts[known + 1]! - start !== to - from) return false
    for (let at = from; at < to; at++) if (this.#bytes[start + at - from] !== bytes[at]) return false
    return true
  }

  #append(slot: number, hash: number, bytes: Uint8Array, from: number, to: number): number {
    const number = this.#size++
    if (number + 2 > this.#starts.length) {
      this.#starts = widened(this.#starts, new Uint32Array(this.#starts.length * 2))
      this.#hashes = widened(this.#hashes, new Int32Array(this.#hashes.length * 2))
    }
    const start = this.#starts[number]!
    const end = start + to - from
    if (end > this.#bytes.length) {
      this.#bytes = widened(this.#bytes, new Uint8Array(Math.max(end, this.#bytes.length * 2)))
    }
    this.#bytes.set(bytes.subarray(from, to), start)
    this.#starts[number + 1] = end
    this.#hashes[number] = hash
    this.#slots[slot] = number
    if (this.#size * 2 > this.#slots.length) this.#rehash()
    return number
  }

  #rehash(): void {
    const slots = new Int32Array(this.#slots.length * 4).fill(-1)
    const mask = slots.length - 1
    for (let number = 0; number < this.#size; number++) {
      let slot = this.#hashes[number]! & mask
      while (slots[slot]! >= 0) slot = (slot + 1) & mask
      slots[slot] = number
    }
    this.#slots = slots
  }

  /** The bytes of one value; good until the next is added. */
  bytesOf(number: number): Uint8Array {
    return this.#bytes.subarray(this.#starts[number]!, this.#starts[number + 1]!)
  }
}

function widened<T extends Uint8Array | Uint32Array | Int32Array>(from: T, into: T): T {
  into.set(from)
  return into
}
