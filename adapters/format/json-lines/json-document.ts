// Follows a JSON document byte by byte, in bounded memory: the path to each list, and the items of one as lines.
import { DataFault } from '../../../daemon/kernel/data/data-fault.ts'

const [quote, backslash, comma, colon, lineFeed, blank, underscore] = [0x22, 0x5c, 0x2c, 0x3a, 10, 32, 0x5f]
const [openArray, endOfArray, openObject, endOfObject] = [0x5b, 0x5d, 0x7b, 0x7d]

/** Levels of nesting that a document has at most. */
const max_depth = 256
/** Bytes of a name in the path to a list. */
const max_name_bytes = 1_024

/** What may come next. `item` and `member` are the first of their container, which may end instead. */
type DueToken = 'value' | 'item' | 'key' | 'member' | 'colon' | 'separator' | 'end'

/** A list or an object that is open. `at`: number of its item, or name of its member. */
type OpenValue = { readonly isList: boolean; at: number | string }

export type DocumentListener = {
  /** A list begins at this JSON pointer; true makes its items lines of the output. */
  onList(pointer: string): boolean
  /** The first item of a list is an object. */
  onObjects?(pointer: string): void
  /** Something follows the document; without it, a fault. */
  onMore?(): void
}

export class JsonDocument {
  readonly #listener: DocumentListener
  readonly #open: OpenValue[] = []
  #due: DueToken = 'value'
  #isText = false
  #isEscaped = false
  /** Whether a number or a word is being read. */
  #isWord = false
  #name: number[] | undefined
  /** Depth of the list whose items become lines; 0 for none, and its items once it has ended. */
  #target = 0
  hasTarget = false
  #offset = 0

  constructor(listener: DocumentListener) {
    this.#listener = listener
  }

  get isAtEnd(): boolean {
    return this.#due === 'end' || (this.#isWord && this.#open.length === 0)
  }

  /** Takes the bytes, and puts the lines of items at their beginning; returns the end of those. Throws `DataFault`. */
  take(bytes: Uint8Array, end: number): number {
    let into = 0
    for (let at = 0; at < end; at++) {
      const byte = bytes[at] ?? 0
      const isInside = this.#target > 0
      if (this.#isText) this.#takeText(byte)
      else this.#takeToken(byte)
      this.#offset++
      const isOutput = isInside && this.#target > 0
      if (isOutput) bytes[into++] = this.#lineByte(byte)
      else if (isInside) bytes[into++] = lineFeed
    }
    return into
  }

  /** A line end within an item would end its line; one within a text is a fault, and stays one. */
  #lineByte(byte: number): number {
    if (this.#open.length === this.#target && byte === comma && !this.#isText) return lineFeed
    if (byte !== lineFeed) return byte
    return this.#isText ? 1 : blank
  }

  #takeText(byte: number): void {
    if (this.#isEscaped) this.#isEscaped = false
    else if (byte === backslash) this.#isEscaped = true
    else if (byte === quote) {
      this.#isText = false
      if (this.#due === 'colon') this.#endName()
      return
    }
    if (this.#name && this.#name.length < max_name_bytes) this.#name.push(byte)
  }

  #endName(): void {
    const container = this.#open.at(-1)
    if (!this.#name || !container) return
    const raw = Buffer.from(this.#name).toString('utf8')
    this.#name = undefined
    container.at = unescapeName(raw)
  }

  #takeToken(byte: number): void {
    if (this.#isWord) {
      if (isWordByte(byte)) return
      this.#isWord = false
    }
    if (byte === blank || byte === lineFeed || byte === 13 || byte === 9) return
    switch (this.#due) {
      case 'item':
        if (byte === endOfArray) this.#close()
        else this.#beginValue(byte)
        return
      case 'value':
        this.#beginValue(byte)
        return
      case 'member':
        if (byte === endOfObject) this.#close()
        else this.#beginName(byte)
        return
      case 'key':
        this.#beginName(byte)
        return
      case 'colon':
        if (byte !== colon) throw this.#fault('a colon is missing')
        this.#due = 'value'
        return
      case 'separator':
        this.#takeSeparator(byte)
        return
      default:
        if (!this.#listener.onMore) throw this.#fault('something follows the end of the document')
        this.#listener.onMore()
    }
  }

  #beginName(byte: number): void {
    if (byte !== quote) throw this.#fault('the name of a member is missing')
    this.#isText = true
    this.#due = 'colon'
    // Names within items are not needed.
    this.#name = this.#target > 0 ? undefined : []
  }

  #beginValue(byte: number): void {
    const isFirst = this.#due === 'item'
    if (byte === openArray || byte === openObject) {
      if (this.#open.length === max_depth) throw this.#fault(`nested deeper than ${max_depth} levels`)
      const isList = byte === openArray
      if (isFirst && !isList && this.#target === 0) this.#listener.onObjects?.(this.#pointer(-1))
      const isTarget = isList && !this.hasTarget && this.#listener.onList(this.#pointer(0))
      this.#open.push({ isList, at: isList ? 0 : '' })
      if (isTarget) {
        this.hasTarget = true
        this.#target = this.#open.length
      }
      this.#due = isList ? 'item' : 'member'
      return
    }
    this.#due = this.#open.length === 0 ? 'end' : 'separator'
    if (byte === quote) this.#isText = true
    else if (isWordByte(byte)) this.#isWord = true
    else throw this.#fault('a value is missing')
  }

  #takeSeparator(byte: number): void {
    const container = this.#open.at(-1)
    if (container && byte === (container.isList ? endOfArray : endOfObject)) {
      this.#close()
      return
    }
    if (!container || byte !== comma) throw this.#fault('a comma, a bracket or a brace is missing')
    if (typeof container.at === 'number') container.at++
    this.#due = container.isList ? 'value' : 'key'
  }

  #close(): void {
    if (this.#open.length === this.#target) this.#target = 0
    this.#open.pop()
    this.#due = this.#open.length === 0 ? 'end' : 'separator'
  }

  /** The pointer to the current value; `depth` -1: to its container. */
  #pointer(depth: number): string {
    const names = depth < 0 ? this.#open.slice(0, depth) : this.#open
    return names.map(({ at }) => `/${String(at).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
  }

  #fault(reason: string): DataFault {
    return new DataFault(`not a JSON document: ${reason}, at byte ${this.#offset + 1}`)
  }
}

function unescapeName(raw: string): string {
  try {
    return raw.includes('\\') ? (JSON.parse(`"${raw}"`) as string) : raw
  } catch {
    return raw
  }
}

/** Bytes of numbers, `true`, `false` and `null`; the reader of the items is strict. */
function isWordByte(byte: number): boolean {
  const letter = byte | 0x20
  return (
    (letter >= 0x61 && letter <= 0x7a && byte !== underscore) ||
    (byte >= 0x2b && byte <= 0x39 && byte !== comma && byte !== 0x2f)
  )
}
