// The rows of each lookup key, in typed arrays: keys as hashes, a single row in place, several rows in blocks of one pool.
import { hashText, textHash } from './text-hash.ts'
import { grown } from './text-table.ts'

/** Tables by eight bits of the hash: each grows alone, so that no growth takes long or doubles the memory. */
const table_count = 256
const first_places = 8
const max_load = 0.75
/** A key that had rows and has none any more; its place is free after the next growth. */
const no_rows = 0x7f_ff_ff_ff

/**
 * Maps keys to rows. Two keys are one if 56 bits of their hashes are equal: among ten million keys, with a probability of one in a
 * thousand anywhere.
 */
export class KeyPostings {
  readonly #tables = Array.from({ length: table_count }, () => new KeyTable())
  readonly #blocks = new RowPool()

  get bytes(): number {
    return this.#tables.reduce((sum, { bytes }) => sum + bytes, this.#blocks.bytes)
  }

  add(key: string, row: number): void {
    const table = this.#tableOf(key)
    const place = table.findOrAdd(textHash.low, textHash.high >>> 16)
    table.heads[place] = this.#blocks.add(table.heads[place]!, row)
  }

  remove(key: string, row: number): void {
    const table = this.#tableOf(key)
    const place = table.find(textHash.low, textHash.high >>> 16)
    if (place >= 0) table.heads[place] = this.#blocks.remove(table.heads[place]!, row)
  }

  /** Returns the number of rows of a key. */
  count(key: string): number {
    const table = this.#tableOf(key)
    const place = table.find(textHash.low, textHash.high >>> 16)
    return place < 0 ? 0 : this.#blocks.count(table.heads[place]!)
  }

  /** Copies the rows of a key into `rows`, which has room for `max_rows`. Returns their number; 0 for more of them than that. */
  read(key: string, rows: Int32Array, max_rows: number): number {
    const table = this.#tableOf(key)
    const place = table.find(textHash.low, textHash.high >>> 16)
    return place < 0 ? 0 : this.#blocks.read(table.heads[place]!, rows, max_rows)
  }

  #tableOf(key: string): KeyTable {
    hashText(key)
    return this.#tables[textHash.high & (table_count - 1)]!
  }
}

/** Open addressing: two parts of the hash of a key, and the head of its rows; a head of 0 is a free place. */
class KeyTable {
  #low = new Uint32Array(first_places)
  #high = new Uint16Array(first_places)
  heads = new Int32Array(first_places)
  #used = 0

  get bytes(): number {
    return this.#low.byteLength + this.#high.byteLength + this.heads.byteLength
  }

  /** Returns the place of a key; -1 without one. */
  find(low: number, high: number): number {
    const place = this.#seek(low, high)
    return this.heads[place] === 0 ? -1 : place
  }

  findOrAdd(low: number, high: number): number {
    let place = this.#seek(low, high)
    if (this.heads[place] !== 0) return place
    if (this.#used + 1 > this.heads.length * max_load) {
      this.#grow()
      place = this.#seek(low, high)
    }
    this.#used++
    this.#low[place] = low
    this.#high[place] = high
    this.heads[place] = no_rows
    return place
  }

  #seek(low: number, high: number): number {
    const { length } = this.heads
    let place = Math.floor((low / 2 ** 32) * length)
    while (this.heads[place] !== 0 && (this.#low[place] !== low || this.#high[place] !== high))
      place = place + 1 === length ? 0 : place + 1
    return place
  }

  #grow(): void {
    const [lows, highs, heads] = [this.#low, this.#high, this.heads]
    const live = heads.reduce((count, head) => count + (head === 0 || head === no_rows ? 0 : 1), 0)
    const places = Math.ceil(Math.max(first_places, live * 2))
    this.#low = new Uint32Array(places)
    this.#high = new Uint16Array(places)
    this.heads = new Int32Array(places)
    this.#used = live
    for (let at = 0; at < heads.length; at++) {
      if (heads[at] === 0 || heads[at] === no_rows) continue
      const place = this.#seek(lows[at]!, highs[at]!)
      this.#low[place] = lows[at]!
      this.#high[place] = highs[at]!
      this.heads[place] = heads[at]!
    }
  }
}

/**
 * Lists of rows. A head is `no_rows`, the one row as a negative number, or the start of a block: its number of rows, then
 * these. The size of a block is the power of two above the number of its rows.
 */
class RowPool {
  #pool = new Int32Array(64)
  #end = 1
  /** Free blocks by the logarithm of their size. */
  readonly #free: number[][] = Array.from({ length: 32 }, () => [])

  get bytes(): number {
    return this.#pool.byteLength
  }

  add(head: number, row: number): number {
    if (head === no_rows) return -1 - row
    if (head < 0) return this.#create([-1 - head, row])
    const count = this.#pool[head]!
    const [size, needed] = [sizeOf(count), sizeOf(count + 1)]
    const start = size === needed ? head : this.#move(head, count, size, needed)
    this.#pool[start] = count + 1
    this.#pool[start + 1 + count] = row
    return start
  }

  remove(head: number, row: number): number {
    if (head === no_rows) return no_rows
    if (head < 0) return head === -1 - row ? no_rows : head
    const count = this.#pool[head]!
    const at = this.#pool.subarray(head + 1, head + 1 + count).indexOf(row)
    if (at < 0) return head
    this.#pool[head + 1 + at] = this.#pool[head + count]!
    if (count === 2) {
      const rest = -1 - this.#pool[head + 1]!
      this.#release(head, sizeOf(count))
      return rest
    }
    const [size, needed] = [sizeOf(count), sizeOf(count - 1)]
    const start = size === needed ? head : this.#move(head, count - 1, size, needed)
    this.#pool[start] = count - 1
    return start
  }

  count(head: number): number {
    if (head === no_rows) return 0
    return head < 0 ? 1 : this.#pool[head]!
  }

  read(head: number, rows: Int32Array, max_rows: number): number {
    const count = this.count(head)
    if (count > max_rows) return 0
    if (head < 0) rows[0] = -1 - head
    else for (let at = 0; at < count; at++) rows[at] = this.#pool[head + 1 + at]!
    return count
  }

  #create(rows: readonly number[]): number {
    const start = this.#take(sizeOf(rows.length))
    this.#pool[start] = rows.length
    this.#pool.set(rows, start + 1)
    return start
  }

  #move(from: number, count: number, size: number, needed: number): number {
    const to = this.#take(needed)
    this.#pool.copyWithin(to + 1, from + 1, from + 1 + count)
    this.#release(from, size)
    return to
  }

  #take(size: number): number {
    const free = this.#free[31 - Math.clz32(size)]!.pop()
    if (free !== undefined) return free
    const start = this.#end
    this.#end += size
    if (this.#end > this.#pool.length) this.#pool = grown(this.#pool, this.#end)
    return start
  }

  #release(start: number, size: number): void {
    this.#free[31 - Math.clz32(size)]!.push(start)
  }
}

/** Places of a block of so many rows, with their number: at least four. */
function sizeOf(rows: number): number {
  return rows < 4 ? 4 : 1 << (32 - Math.clz32(rows))
}
