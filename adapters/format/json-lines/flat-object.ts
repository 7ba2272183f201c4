// Reads the usual line of JSON without parsing it: a flat object with the names of a line before, in their order. Every other line, and
// every value that parsing would change, is left to the parser.

const [quote, backslash, comma, colon, dot, minus, zero] = [0x22, 0x5c, 0x2c, 0x3a, 0x2e, 0x2d, 0x30]
const [openObject, endOfObject, lowerN, lowerT, lowerF] = [0x7b, 0x7d, 0x6e, 0x74, 0x66]

/** Digits that a double always keeps, and decimals behind which it is written with an exponent. */
const [max_digits, max_leading_zeros] = [15, 5]
const unusual = -1

export class FlatObject {
  #names: readonly Uint8Array[] = []
  /** Positions of the values, by the names of `expect`; -1 for a missing one. */
  starts = new Int32Array(0)
  ends = new Int32Array(0)

  /** Sets the names of the lines that follow. */
  expect(names: readonly string[]): void {
    this.#names = names.map((name) => Buffer.from(JSON.stringify(name)))
    this.starts = new Int32Array(names.length)
    this.ends = new Int32Array(names.length)
  }

  /** Reads the line, which is UTF-8; false where the parser must. */
  read(bytes: Uint8Array, from: number, to: number): boolean {
    let at = skipBlanks(bytes, from)
    if (at >= to || bytes[at] !== openObject || this.#names.length === 0) return false
    this.starts.fill(-1)
    for (let name = 0; ; name++) {
      at = skipBlanks(bytes, at + 1)
      name = this.#findName(bytes, at, name)
      if (name === unusual) return false
      at = skipBlanks(bytes, at + this.#names[name]!.length)
      if (bytes[at] !== colon) return false
      at = this.#readValue(bytes, skipBlanks(bytes, at + 1), name)
      if (at === unusual) return false
      at = skipBlanks(bytes, at)
      if (bytes[at] === comma) continue
      return bytes[at] === endOfObject && skipBlanks(bytes, at + 1) >= to
    }
  }

  /** The first name from this one on that is here; those between are missing. */
  #findName(bytes: Uint8Array, at: number, first: number): number {
    for (let name = first; name < this.#names.length; name++) {
      const wanted = this.#names[name]!
      let length = 0
      while (length < wanted.length && bytes[at + length] === wanted[length]) length++
      if (length === wanted.length) return name
    }
    return unusual
  }

  /** Returns the end of the value. A line feed ends every loop: there is one behind the line. */
  #readValue(bytes: Uint8Array, at: number, name: number): number {
    const byte = bytes[at]!
    if (byte === quote) {
      let end = at + 1
      while (bytes[end] !== quote && bytes[end] !== backslash && bytes[end]! >= 0x20) end++
      return bytes[end] === quote ? this.#set(name, at + 1, end, end + 1) : unusual
    }
    if (byte === lowerN) return matches(bytes, at, nullWord) ? at + 4 : unusual
    if (byte === lowerT) return matches(bytes, at, trueWord) ? this.#set(name, at, at + 4, at + 4) : unusual
    if (byte === lowerF) return matches(bytes, at, falseWord) ? this.#set(name, at, at + 5, at + 5) : unusual
    const end = findNumberEnd(bytes, at)
    return end === unusual ? unusual : this.#set(name, at, end, end)
  }

  #set(name: number, start: number, end: number, next: number): number {
    this.starts[name] = start
    this.ends[name] = end
    return next
  }
}

const [nullWord, trueWord, falseWord] = ['null', 'true', 'false'].map((word) => Buffer.from(word)) as [
  Buffer,
  Buffer,
  Buffer,
]

function matches(bytes: Uint8Array, at: number, word: Uint8Array): boolean {
  for (let index = 0; index < word.length; index++) if (bytes[at + index] !== word[index]) return false
  return true
}

function skipBlanks(bytes: Uint8Array, from: number): number {
  let at = from
  while (bytes[at] === 0x20 || bytes[at] === 0x0d || bytes[at] === 0x09) at++
  return at
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= zero && byte <= 0x39
}

/** The end of a number that is written as it would be after parsing: the shortest text, without an exponent. */
function findNumberEnd(bytes: Uint8Array, start: number): number {
  const first = bytes[start] === minus ? start + 1 : start
  let at = first
  while (isDigit(bytes[at])) at++
  const whole = at - first
  const isZero = bytes[first] === zero
  if (whole === 0 || (isZero && whole > 1)) return unusual
  if (bytes[at] !== dot)
    return whole <= max_digits && !isExponent(bytes[at]) && !(isZero && first > start) ? at : unusual
  const decimals = ++at
  let significant = isZero ? 0 : whole
  for (; isDigit(bytes[at]); at++) if (significant > 0 || bytes[at] !== zero) significant++
  const leading_zeros = isZero ? at - decimals - significant : 0
  const isUsual = at > decimals && bytes[at - 1] !== zero && !isExponent(bytes[at])
  return isUsual && significant <= max_digits && leading_zeros <= max_leading_zeros ? at : unusual
}

function isExponent(byte: number | undefined): boolean {
  return byte === 0x65 || byte === 0x45
}
