// Mark-up of reports: one tagged template, which escapes every text that it is given.
import { escapeMarkup } from '../../kernel/text/markup.ts'

/** Longer texts are abridged with their length: a page has a bounded size, whatever it is about. */
const max_text_characters = 1_000

/** Only `html` makes one, so no text from outside is taken for mark-up. */
class MarkupText {
  readonly #text: string
  constructor(text: string) {
    this.#text = text
  }
  toString(): string {
    return this.#text
  }
}
export type Markup = MarkupText

type MarkupValue = Markup | string | number | undefined | readonly MarkupValue[]

/** Joins mark-up. Texts are escaped, for an element or a quoted attribute; `undefined` adds nothing; lists are joined. */
export function html(strings: TemplateStringsArray, ...values: readonly MarkupValue[]): Markup {
  return new MarkupText(strings.map((literal, at) => literal + renderMarkupValue(values[at])).join(''))
}

function renderMarkupValue(value: MarkupValue): string {
  if (value === undefined) return ''
  if (value instanceof MarkupText) return value.toString()
  if (typeof value === 'number') return String(value)
  if (typeof value === 'string') return escapeMarkup(abridge(value, max_text_characters))
  return value.map(renderMarkupValue).join('')
}

/** Text of bounded length; a longer one ends with an ellipsis and its length. */
export function abridge(value: string, max_characters: number): string {
  if (value.length <= max_characters) return value
  return `${value.slice(0, max_characters).toWellFormed()}… (${value.length} characters)`
}
