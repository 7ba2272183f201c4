// What texts are made of, by number: words, or every three letters in a row.

/** Numbers what a text is made of, the same part always by the same number. */
export type Tokeniser = {
  /** How many different parts there were. */
  readonly size: number
  /** Writes the numbers of a text's parts, of which there are at most as many as letters; how many. */
  tokenise(text: string, into: Int32Array): number
}

/** Words: what spaces part. */
export function createWordTokeniser(): Tokeniser {
  const numbers = new Map<string, number>()
  return {
    get size() {
      return numbers.size
    },
    tokenise(text, into) {
      let count = 0
      for (const word of text.split(' ')) {
        if (word === '') continue
        const known = numbers.get(word) ?? numbers.size
        if (known === numbers.size) numbers.set(word, known)
        into[count++] = known
      }
      return count
    },
  }
}

const space = 32

/** Every three letters in a row within a word, its two ends being a space: each letter with its neighbours. */
export function createTrigramTokeniser(): Tokeniser {
  const table = new TrigramTable()
  return {
    get size() {
      return table.size
    },
    tokenise(text, into) {
      let count = 0
      let [before, letter] = [space, text.charCodeAt(0)]
      for (let at = 0; at < text.length; at++) {
        const after = at + 1 < text.length ? text.charCodeAt(at + 1) : space
        if (letter !== space) into[count++] = table.add((before << 16) | letter, after)
        before = letter
        letter = after
      }
      return count
    },
  }
}

/** Numbers three letters, given as two numbers, in the order of their first appearance. */
class TrigramTable {
  size = 0
  /** Three places for each: both numbers, and its own and one (nought is free). */
  #slots = new Int32Array(3 << 12)
  #mask = (1 << 12) - 1

  add(first: number, last: number): number {
    const slots = this.#slots
    let slot = this.#slotOf(first, last)
    for (; slots[slot + 2] !== 0; slot = this.#after(slot)) {
      if (slots[slot] === first && slots[slot + 1] === last) return slots[slot + 2]! - 1
    }
    slots[slot] = first
    slots[slot + 1] = last
    slots[slot + 2] = ++this.size
    if (this.size * 2 > this.#mask) this.#widen()
    return this.size - 1
  }

  #slotOf(first: number, last: number): number {
    const hash = Math.imul(first ^ Math.imul(last, 0x85ebca6b), 0x9e3779b1)
    return 3 * ((hash ^ (hash >>> 15)) & this.#mask)
  }

  #after(slot: number): number {
    return slot + 3 < this.#slots.length ? slot + 3 : 0
  }

  #widen(): void {
    const old = this.#slots
    this.#slots = new Int32Array(old.length * 2)
    this.#mask = this.#mask * 2 + 1
    for (let from = 0; from < old.length; from += 3) {
      if (old[from + 2] === 0) continue
      let slot = this.#slotOf(old[from]!, old[from + 1]!)
      while (this.#slots[slot + 2] !== 0) slot = this.#after(slot)
      for (let place = 0; place < 3; place++) this.#slots[slot + place] = old[from + place]!
    }
  }
}
