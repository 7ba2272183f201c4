// Scans JSON text once for properties that JSON.parse does not report: repeated keys, depth and missing end.

export type JsonFlaw = 'incomplete' | { readonly outcome: 'BAD_JSON' | 'DUP_KEY'; readonly detail: string }

/** The first flaw of a text as JSON; undefined when there is none. */
export function scanJson(text: string, max_depth: number): JsonFlaw | undefined {
  const scan = new JsonScanner(text, max_depth)
  if (!scan.value(0)) return scan.flaw
  scan.space()
  return scan.at === text.length ? undefined : { outcome: 'BAD_JSON', detail: 'something follows the JSON value' }
}

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const colon = 0x3a
const endOfArray = 0x5d
const endOfObject = 0x7d
/** All but quote, backslash and control characters: a regular expression skips them many times faster than a loop. */
const plainCharacters = /[ !#-[\]-\uffff]*/y
const escapes = new Set([...'"\\/bfnrt'].map((char) => char.charCodeAt(0)))
const literals = new Map(['true', 'false', 'null'].map((word) => [word.charCodeAt(0), word]))

/** Every method returns whether the text is right so far; when not, `flaw` says why. */
class JsonScanner {
  readonly #text: string
  readonly #max_depth: number
  at = 0
  flaw: JsonFlaw = 'incomplete'

  constructor(text: string, max_depth: number) {
    this.#text = text
    this.#max_depth = max_depth
  }

  value(depth: number): boolean {
    this.space()
    const code = this.#unit()
    if (code === undefined) return false
    if (code === 0x7b) return this.#object(depth + 1)
    if (code === 0x5b) return this.#array(depth + 1)
    if (code === quote) return this.#string()
    const word = literals.get(code)
    return word ? this.#literal(word) : this.#number()
  }

  space(): void {
    for (;;) {
      const code = this.#unit()
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return
      this.at += 1
    }
  }

  #object(depth: number): boolean {
    if (depth > this.#max_depth) return this.#bad(`nested deeper than ${this.#max_depth} levels`)
    this.at += 1
    const keys = new Set<string>()
    if (this.#next() === endOfObject) return this.#step()
    for (;;) {
      if (this.#next() !== quote) return this.#lacks('a key is missing')
      const start = this.at
      if (!this.#string() || !this.#isNewKey(keys, start)) return false
      if (this.#next() !== colon) return this.#lacks('a colon is missing')
      this.at += 1
      if (!this.value(depth)) return false
      const code = this.#next()
      if (code === endOfObject) return this.#step()
      if (code !== comma) return this.#lacks('a comma or brace is missing in an object')
      this.at += 1
    }
  }

  #isNewKey(keys: Set<string>, start: number): boolean {
    const raw = this.#text.slice(start + 1, this.at - 1)
    const key = raw.includes('\\') ? (JSON.parse(`"${raw}"`) as string) : raw
    if (key === '__proto__') return this.#bad('a key that no object may have')
    if (keys.has(key)) {
      this.flaw = { outcome: 'DUP_KEY', detail: 'an object has a key twice' }
      return false
    }
    keys.add(key)
    return true
  }

  #array(depth: number): boolean {
    if (depth > this.#max_depth) return this.#bad(`nested deeper than ${this.#max_depth} levels`)
    this.at += 1
    if (this.#next() === endOfArray) return this.#step()
    for (;;) {
      if (!this.value(depth)) return false
      const code = this.#next()
      if (code === endOfArray) return this.#step()
      if (code !== comma) return this.#lacks('a comma or bracket is missing in an array')
      this.at += 1
    }
  }

  #string(): boolean {
    this.at += 1
    for (;;) {
      plainCharacters.lastIndex = this.at
      plainCharacters.test(this.#text)
      this.at = plainCharacters.lastIndex
      const code = this.#unit()
      if (code === undefined) return false
      if (code < 0x20) return this.#bad('a control character in a string')
      this.at += 1
      if (code === quote) return true
      if (code === backslash && !this.#escape()) return false
    }
  }

  #escape(): boolean {
    const code = this.#unit()
    if (code === undefined) return false
    this.at += 1
    if (code !== 0x75) return escapes.has(code) || this.#bad('an unknown escape')
    const unit = this.#hex()
    if (unit === undefined) return false
    if (unit < 0xd800 || unit > 0xdfff) return true
    return this.#secondHalf(unit)
  }

  #secondHalf(first: number): boolean {
    for (const wanted of [backslash, 0x75]) {
      const code = this.#unit()
      if (code === undefined && first < 0xdc00) return false
      if (code !== wanted || first > 0xdbff) return this.#bad('half a surrogate pair')
      this.at += 1
    }
    const second = this.#hex()
    if (second === undefined) return false
    return (second >= 0xdc00 && second <= 0xdfff) || this.#bad('half a surrogate pair')
  }

  #hex(): number | undefined {
    let unit = 0
    for (let i = 0; i < 4; i++) {
      const code = this.#unit()
      if (code === undefined) return undefined
      const digit = Number.parseInt(String.fromCharCode(code), 16)
      if (Number.isNaN(digit)) {
        this.#bad('an escape that is not a character')
        return undefined
      }
      unit = unit * 16 + digit
      this.at += 1
    }
    return unit
  }

  #literal(word: string): boolean {
    for (const wanted of word) {
      const char = this.#text[this.at]
      if (char === undefined) return false
      if (char !== wanted) return this.#bad('an unknown word')
      this.at += 1
    }
    return true
  }

  #number(): boolean {
    const start = this.at
    if (this.#unit() === 0x2d) this.at += 1
    if (this.#unit() === 0x30) this.at += 1
    else if (!this.#digits()) return false
    if (this.#unit() === 0x2e) {
      this.at += 1
      if (!this.#digits()) return false
    }
    const exponent = this.#unit()
    if (exponent === 0x65 || exponent === 0x45) {
      this.at += 1
      const sign = this.#unit()
      if (sign === 0x2b || sign === 0x2d) this.at += 1
      if (!this.#digits()) return false
    }
    const finite = Number.isFinite(Number(this.#text.slice(start, this.at)))
    return finite || this.#bad('a number out of range')
  }

  #digits(): boolean {
    const start = this.at
    for (;;) {
      const code = this.#unit()
      if (code === undefined || code < 0x30 || code > 0x39) break
      this.at += 1
    }
    if (this.at > start) return true
    return this.#lacks('neither a number nor another value')
  }

  #next(): number | undefined {
    this.space()
    return this.#unit()
  }

  /** The code unit here; undefined at the end. */
  #unit(): number | undefined {
    return this.at < this.#text.length ? this.#text.charCodeAt(this.at) : undefined
  }

  #step(): true {
    this.at += 1
    return true
  }

  #bad(detail: string): false {
    this.flaw = { outcome: 'BAD_JSON', detail }
    return false
  }

  /** As `#bad`, unless the text ends here: then it only lacks its end, and `flaw` is `incomplete` still. */
  #lacks(detail: string): false {
    return this.at < this.#text.length && this.#bad(detail)
  }
}
