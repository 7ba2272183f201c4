// Makes the record of an XML element: its attributes, and the texts of the elements within it by their paths.
import { max_record_bytes } from '../../../daemon/kernel/data/read-options.ts'
import { localName, type XmlAttributes } from './xml-reader.ts'

/** A text is null where its element is empty, or is marked as nil. */
export type ElementValue = string | null | readonly (string | null)[]

/** `path`: differs for an attribute, and for an element with another prefix, of the same name. */
type NamedValues = { readonly path: string; readonly values: (string | null)[] }

type OpenElement = {
  readonly path: string
  /** Column of its text; for elements within, and attributes, the beginning of theirs. */
  readonly name: string
  readonly isNil: boolean
  readonly hasAttributes: boolean
  hasElements: boolean
  text: string
}

/** Added to the characters of each value. */
const value_characters = 16

export class ElementRecord {
  readonly #open: OpenElement[] = []
  readonly #values = new Map<string, NamedValues>()
  #characters = 0
  #fault: string | undefined

  get isOpen(): boolean {
    return this.#open.length > 0
  }

  /** `qualified`: the name with its prefix. */
  open(element: string, attributes: XmlAttributes, qualified: string): void {
    const parent = this.#open.at(-1)
    if (parent) parent.hasElements = true
    const name = parent ? joinName(parent.name, element) : ''
    const path = parent ? `${parent.path}/${qualified}` : ''
    const own = Object.entries(attributes).filter(([key]) => !isOfSchema(key))
    for (const [key, value] of own) {
      if (this.#isFull(value.length)) break
      this.#add(joinName(name, localName(key)), `${path}/@${key}`, value)
    }
    const isNil = /^(1|true)$/.test(attributes['xsi:nil'] ?? '')
    this.#open.push({ path, name, isNil, hasAttributes: own.length > 0, hasElements: false, text: '' })
  }

  text(text: string): void {
    const element = this.#open.at(-1)
    if (!element || this.#isFull(text.length)) return
    element.text += text
  }

  /** `name`: of the element, which the text of a record itself has as its column. */
  close(name: string): void {
    const element = this.#open.pop()
    if (!element) return
    const text = element.text.trim()
    const isRecord = this.#open.length === 0
    if (element.hasElements) {
      if (text !== '') this.#fault ??= `${JSON.stringify(element.name || name)} has text between its elements`
    } else if (text !== '') this.#add(element.name || name, `${element.path}/`, element.isNil ? null : text)
    else if (!isRecord && !element.hasAttributes) this.#add(element.name, `${element.path}/`, null)
  }

  /** Returns the record, or what is wrong with it, and begins the next one. */
  take(): Readonly<Record<string, ElementValue>> | string {
    const entries = [...this.#values].map(([name, { values }]) => {
      const [only = null] = values
      return [name, values.length === 1 ? only : values] as const
    })
    const result = this.#fault ?? Object.fromEntries<ElementValue>(entries)
    this.#values.clear()
    this.#characters = 0
    this.#fault = undefined
    return result
  }

  #add(name: string, path: string, value: string | null): void {
    if (this.#isFull(name.length + value_characters)) return
    const named = this.#values.get(name)
    if (!named) this.#values.set(name, { path, values: [value] })
    else if (named.path === path) named.values.push(value)
    else this.#fault ??= `two values have the name ${JSON.stringify(name)}`
  }

  /** Counts the characters of texts, values and names; nothing of a record that has too many is kept. */
  #isFull(characters: number): boolean {
    this.#characters += characters
    if (this.#characters <= max_record_bytes) return false
    this.#fault = `the record has more than ${max_record_bytes} characters`
    this.#values.clear()
    return true
  }
}

function joinName(prefix: string, name: string): string {
  return prefix === '' ? name : `${prefix}.${name}`
}

/** Declarations of namespaces, and attributes that say how a schema is applied. */
function isOfSchema(key: string): boolean {
  return key === 'xmlns' || key.startsWith('xmlns:') || key.startsWith('xsi:')
}
