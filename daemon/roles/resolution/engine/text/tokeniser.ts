// Splits texts into numbered parts: words or trigrams.

/** Numbers the parts of texts; equal parts have equal numbers. */
export type Tokeniser = {
  /** Number of distinct parts so far. */
  readonly size: number
  /** Writes the numbers of the parts of a text, at most one for each letter; returns their count. */
  tokenise(text: string, into: Int32Array): number
}

/** Creates a tokeniser that splits texts at spaces. */
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
        const number = numbers.get(word) ?? numbers.size
        if (number === numbers.size) numbers.set(word, number)
        into[count++] = number
      }
      return count
    },
  }
}

const space = 32

/**
 * Creates a tokeniser of trigrams within words: each letter with its neighbours, and a space at both ends of a word.
 */
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

/** Numbers trigrams, passed as two numbers, in the order of their first appearance. */
class TrigramTable {
  size = 0
  /** Three entries for each trigram: both numbers, and its own number plus one (0 marks a free slot). */
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
      for (let entry = 0; entry < 3; entry++) this.#slots[slot + entry] = old[from + entry]!
    }
  }
}
