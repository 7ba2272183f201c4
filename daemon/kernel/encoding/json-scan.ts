// Scans JSON text once for properties that JSON.parse does not report: repeated keys, depth, amounts and a missing end.
import { findEscapeEnd } from './json-escape.ts'
import type { JsonLimits } from './json-limits.ts'

export type JsonFlaw =
  | 'incomplete'
  | { readonly outcome: 'BAD_JSON' | 'DUP_KEY' | 'TOO_LARGE'; readonly detail: string; readonly number_path?: string }

/** Tokens between two points at which other work may continue: less than a millisecond. */
const tokens_per_step = 512

/**
 * Returns the first flaw of a text as JSON; undefined when there is none. In steps: a text of many values must not occupy
 * the event loop.
 */
export function* scanJson(text: string, limits: JsonLimits): Generator<undefined, JsonFlaw | undefined, undefined> {
  const scan = new JsonScanner(text, limits)
  for (let tokens = 1; scan.readToken(); tokens++) if (tokens % tokens_per_step === 0) yield
  return scan.flaw
}

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const colon = 0x3a
const [openArray, endOfArray, openObject, endOfObject] = [0x5b, 0x5d, 0x7b, 0x7d]
/** All but quote, backslash and control characters. */
const plainCharacters = /[ !#-[\]-\uffff]*/y
const blanks = /[ \t\n\r]*/y
const digits = /[0-9]*/y
/** Plain characters behind an escape before a regular expression pays. */
const short_run = 32
const literals = new Map(['true', 'false', 'null'].map((word) => [word.charCodeAt(0), word]))

/** A list or object that is open. `at`: index or name of its current value. `keys`: the names so far, of an object. */
type OpenContainer = { at: number | string; readonly keys?: Set<string> }

/** `item`, `member`: the first of its container, which may end instead. */
type Due = 'value' | 'item' | 'key' | 'member' | 'separator'

/** Every method returns whether the scan goes on. When it does not, `flaw` is the reason. */
export class JsonScanner {
  readonly #text: string
  readonly #limits: JsonLimits
  readonly #open: OpenContainer[] = []
  readonly #names = new Set<string>()
  #at = 0
  #values = 0
  #escapes = 0
  #due: Due = 'value'
  flaw: JsonFlaw | undefined = 'incomplete'

  constructor(text: string, limits: JsonLimits) {
    this.#text = text
    this.#limits = limits
  }

  get offset(): number {
    return this.#at
  }

  /** Reads a value, the name of a member, a separator, or the beginning or end of a container. */
  readToken(): boolean {
    this.#skipSpace()
    const code = this.#unit()
    switch (this.#due) {
      case 'item':
        return code === endOfArray ? this.#close() : this.#value(code)
      case 'member':
        return code === endOfObject ? this.#close() : this.#member(code)
      case 'key':
        return this.#member(code)
      case 'separator':
        return this.#separator(code)
      default:
        return this.#value(code)
    }
  }

  #separator(code: number | undefined): boolean {
    const container = this.#open.at(-1)
    if (!container) return code === undefined ? this.#finish() : this.#bad('something follows the JSON value')
    const { keys, at } = container
    if (code === (keys ? endOfObject : endOfArray)) return this.#close()
    if (code !== comma)
      return this.#lacks(`a comma or ${keys ? 'brace is missing in an object' : 'bracket is missing in an array'}`)
    this.#at += 1
    if (typeof at === 'number') container.at = at + 1
    this.#due = keys ? 'key' : 'value'
    return true
  }

  #value(code: number | undefined): boolean {
    if (code === undefined) return false
    const { max_values = Number.POSITIVE_INFINITY } = this.#limits
    if (++this.#values > max_values) return this.#tooLarge(`more than ${max_values} values`)
    if (code === openArray) return this.#openContainer({ at: 0 }, 'item')
    if (code === openObject) return this.#openContainer({ at: '', keys: new Set() }, 'member')
    this.#due = 'separator'
    if (code === quote) return this.#string()
    const word = literals.get(code)
    return word ? this.#literal(word) : this.#number()
  }

  #openContainer(container: OpenContainer, due: Due): boolean {
    const { max_depth } = this.#limits
    if (this.#open.push(container) > max_depth) return this.#bad(`nested deeper than ${max_depth} levels`)
    this.#at += 1
    this.#due = due
    return true
  }

  #close(): boolean {
    this.#open.pop()
    this.#at += 1
    this.#due = 'separator'
    return true
  }

  #member(code: number | undefined): boolean {
    if (code !== quote) return this.#lacks('a key is missing')
    const start = this.#at
    if (!this.#string() || !this.#enterKey(start)) return false
    this.#skipSpace()
    if (this.#unit() !== colon) return this.#lacks('a colon is missing')
    this.#at += 1
    this.#due = 'value'
    return true
  }

  #enterKey(start: number): boolean {
    const raw = this.#text.slice(start + 1, this.#at - 1)
    const key = raw.includes('\\') ? (JSON.parse(`"${raw}"`) as string) : raw
    if (key === '__proto__') return this.#bad('a key that no object may have')
    const container = this.#open.at(-1)
    if (container?.keys?.has(key)) return this.#fail({ outcome: 'DUP_KEY', detail: 'an object has a key twice' })
    container?.keys?.add(key)
    if (container) container.at = key
    const { max_names } = this.#limits
    if (max_names === undefined || this.#names.add(key).size <= max_names) return true
    return this.#tooLarge(`more than ${max_names} different names of members`)
  }

  /** In a loop without calls: a text may be one string of millions of escapes. */
  #string(): boolean {
    const text = this.#text
    const { max_escapes = Number.POSITIVE_INFINITY } = this.#limits
    let at = this.#at + 1
    let plain = short_run
    for (;;) {
      if (plain === short_run) at = skip(plainCharacters, text, at)
      const code = at < text.length ? text.charCodeAt(at) : undefined
      if (code === undefined) break
      at += 1
      plain += 1
      if (code < 0x20) return this.#bad('a control character in a string')
      if (code === quote) {
        this.#at = at
        return true
      }
      if (code !== backslash) continue
      plain = 0
      const end = at < text.length ? findEscapeEnd(text, at) : undefined
      if (end === undefined) break
      if (typeof end === 'string') return this.#bad(end)
      at = end
      if (++this.#escapes > max_escapes) return this.#tooLarge(`more than ${max_escapes} escapes`)
    }
    this.#at = text.length
    return false
  }

  #literal(word: string): boolean {
    for (const wanted of word) {
      const char = this.#text[this.#at]
      if (char === undefined) return false
      if (char !== wanted) return this.#bad('an unknown word')
      this.#at += 1
    }
    return true
  }

  #number(): boolean {
    const start = this.#at
    if (this.#unit() === 0x2d) this.#at += 1
    if (this.#unit() === 0x30) this.#at += 1
    else if (!this.#digits()) return false
    if (this.#unit() === 0x2e) {
      this.#at += 1
      if (!this.#digits()) return false
    }
    const exponent = this.#unit()
    if (exponent === 0x65 || exponent === 0x45) {
      this.#at += 1
      const sign = this.#unit()
      if (sign === 0x2b || sign === 0x2d) this.#at += 1
      if (!this.#digits()) return false
    }
    if (Number.isFinite(Number(this.#text.slice(start, this.#at)))) return true
    const number_path = this.#open.map(({ at }) => at).join('.')
    return this.#fail({ outcome: 'BAD_JSON', detail: 'a number out of range', number_path })
  }

  #digits(): boolean {
    const start = this.#at
    this.#at = skip(digits, this.#text, start)
    return this.#at > start || this.#lacks('neither a number nor another value')
  }

  #skipSpace(): void {
    const code = this.#unit()
    if (code !== undefined && code <= 0x20) this.#at = skip(blanks, this.#text, this.#at)
  }

  /** The code unit here; undefined at the end. */
  #unit(): number | undefined {
    return this.#at < this.#text.length ? this.#text.charCodeAt(this.#at) : undefined
  }

  #finish(): false {
    this.flaw = undefined
    return false
  }

  #fail(flaw: JsonFlaw): false {
    this.flaw = flaw
    return false
  }

  #bad(detail: string): false {
    return this.#fail({ outcome: 'BAD_JSON', detail })
  }

  #tooLarge(detail: string): false {
    return this.#fail({ outcome: 'TOO_LARGE', detail })
  }

  /** As `#bad`, unless the text ends here: then it only lacks its end, and `flaw` is `incomplete` still. */
  #lacks(detail: string): false {
    return this.#at < this.#text.length && this.#bad(detail)
  }
}

/** The end of what the expression matches from here: many times faster than a loop. */
function skip(expression: RegExp, text: string, from: number): number {
  expression.lastIndex = from
  expression.test(text)
  return expression.lastIndex
}
