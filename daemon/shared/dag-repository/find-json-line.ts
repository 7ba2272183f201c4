// Lines of JSON text for people who look for a fault in it: of a field, or of what is not JSON.
import { locateFlaw } from '../../kernel/encoding/locate-flaw.ts'
import { parseJson } from '../../kernel/encoding/parse-json.ts'

/** As `parseJson` has it. */
const max_depth = 128

/**
 * 1-based line of the field at a path such as `tasks.0.params`, or else of the closest one around it that the text has. The text
 * is JSON.
 */
export function findJsonLine(text: string, path: string): number {
  return lineAt(text, new FieldSearch(text, path).find())
}

/** Why a text is not JSON, with its 1-based line; undefined for JSON. */
export function findJsonFlaw(text: string): { readonly reason: string; readonly line: number } | undefined {
  const flaw = locateFlaw(text, { max_depth })
  return flaw && { reason: flaw.detail, line: lineAt(text, Math.min(flaw.offset, text.trimEnd().length)) }
}

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a]
const [openArray, endOfArray, openObject, endOfObject] = [0x5b, 0x5d, 0x7b, 0x7d]
/** Names with escapes that are read; further ones are compared as they are written. */
const max_decoded = 500

/** Reads what may lead to the field, and steps over all else by its characters: the text is as long as a request. */
class FieldSearch {
  readonly #text: string
  readonly #path: string
  #at = 0
  #decoded = 0
  /** The closest field so far, and how much of the path leads to it. */
  #best = { offset: 0, length: 0 }

  constructor(text: string, path: string) {
    this.#text = text
    this.#path = path
  }

  find(): number {
    this.#skipBlanks()
    this.#best.offset = this.#at
    if (this.#path !== '') this.#search(0)
    return this.#best.offset
  }

  /** `from`: where the rest of the path begins. Ends behind the value. */
  #search(from: number): void {
    const open = this.#unit()
    if (open !== openObject && open !== openArray) {
      this.#skipValue()
      return
    }
    const [digits = ''] = /^(?:0|[1-9]\d*)(?![^.])/.exec(this.#path.slice(from)) ?? []
    const wanted = digits === '' ? undefined : Number(digits)
    for (let index = 0; this.#next(); index++) {
      const offset = this.#at
      const length = open === openObject ? this.#readName(from) : index === wanted ? digits.length : undefined
      if (length === undefined) this.#skipValue()
      else {
        if (from + length > this.#best.length) this.#best = { offset, length: from + length }
        this.#search(from + length + 1)
      }
    }
  }

  /** At the bracket or behind a value: goes to the next one, or behind the container. */
  #next(): boolean {
    this.#skipBlanks()
    if (!this.#isEnd()) {
      this.#at += 1
      this.#skipBlanks()
      if (!this.#isEnd()) return true
    }
    this.#at += 1
    return false
  }

  #isEnd(): boolean {
    const unit = this.#unit()
    return unit === endOfObject || unit === endOfArray || Number.isNaN(unit)
  }

  /** Ends at the value. The length of a name that leads to the field. */
  #readName(from: number): number | undefined {
    const start = this.#at
    const hasEscape = this.#skipString()
    let token = { start: start + 1, end: this.#at - 1, of: this.#text }
    if (hasEscape && this.#decoded++ < max_decoded) {
      const name = parseJson(this.#text.slice(start, this.#at)) as string
      token = { start: 0, end: name.length, of: name }
    }
    this.#skipBlanks()
    this.#at += 1
    this.#skipBlanks()
    const length = token.end - token.start
    const behind = this.#path[from + length]
    if (from + length > this.#path.length || (behind !== undefined && behind !== '.')) return undefined
    return this.#path.startsWith(token.of.slice(token.start, token.end), from) ? length : undefined
  }

  #skipValue(): void {
    let depth = 0
    do {
      const unit = this.#unit()
      if (unit === quote) this.#skipString()
      else {
        if (unit === openObject || unit === openArray) depth += 1
        else if (unit === endOfObject || unit === endOfArray) depth -= 1
        this.#at += 1
      }
    } while (this.#at < this.#text.length && (depth > 0 || !this.#isBehindValue()))
  }

  #isBehindValue(): boolean {
    const unit = this.#unit()
    return unit === comma || unit === colon || isBlank(unit) || this.#isEnd()
  }

  /** Whether it has an escape. */
  #skipString(): boolean {
    let hasEscape = false
    for (this.#at += 1; this.#at < this.#text.length; this.#at += 1) {
      const unit = this.#unit()
      if (unit === quote) break
      if (unit !== backslash) continue
      hasEscape = true
      this.#at += 1
    }
    this.#at += 1
    return hasEscape
  }

  #skipBlanks(): void {
    while (isBlank(this.#unit())) this.#at += 1
  }

  /** NaN behind the end. */
  #unit(): number {
    return this.#text.charCodeAt(this.#at)
  }
}

function isBlank(unit: number): boolean {
  return unit === 0x20 || (unit >= 0x09 && unit <= 0x0d)
}

function lineAt(text: string, offset: number): number {
  let line = 1
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) line += 1
  return line
}
