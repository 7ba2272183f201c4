// A view of a field, as blocking rules and levels name it: `surname`, `surname:prefix(4)`, `date_of_birth:year`.
import { describeUnknownWord } from './known-words.ts'

/** Count of numbers that each view takes in parentheses. */
const viewArities = {
  prefix: 1,
  suffix: 1,
  substr: 2,
  phonetic: 0,
  metaphone: 0,
  double_metaphone: 0,
  soundex: 0,
  cologne: 0,
  consonants: 0,
  latin: 0,
  year: 0,
  month: 0,
  day: 0,
  year_month: 0,
  month_day: 0,
  user: 0,
  domain: 0,
  first_word: 0,
  last_word: 0,
  sorted_words: 0,
  floor: 1,
  cell: 1,
} as const

export type ViewName = keyof typeof viewArities
export type FieldView = { readonly name: ViewName; readonly numbers: readonly number[] }
export type FieldExpression = { readonly field: string; readonly view: FieldView | undefined }

const viewNames = Object.keys(viewArities) as ViewName[]
const viewPattern = /^([a-z_]+)(?:\(\s*(\d{1,9}(?:\.\d{1,6})?)\s*(?:,\s*(\d{1,9})\s*)?\))?$/

/** Parses a view such as `prefix(4)`. Returns a message for text that is not a view. */
export function parseView(text: string): FieldView | string {
  const [whole, name = '', ...args] = viewPattern.exec(text) ?? []
  if (whole === undefined) return `${JSON.stringify(text)} is not a view; write it as prefix(4), phonetic or year`
  if (!isViewName(name)) return describeUnknownWord('view', name, viewNames)
  const numbers = args.filter((arg) => arg !== undefined).map(Number)
  const arity = viewArities[name]
  if (numbers.length !== arity)
    return `${name} takes ${['no number', '1 number', '2 numbers'][arity]} in parentheses; got ${numbers.length}`
  if (numbers.some((number) => !(number > 0))) return `${name} takes only numbers above 0`
  return { name, numbers }
}

/** Parses a field, or a field and a view of it. Returns a message for other text. */
export function parseExpression(text: string): FieldExpression | string {
  const [, field, , rest] = /^([a-z][a-z0-9_]{0,63})(:(.*))?$/.exec(text) ?? []
  if (field === undefined)
    return `${JSON.stringify(text)} is neither a field nor field:view; write it as surname or surname:prefix(4)`
  if (rest === undefined) return { field, view: undefined }
  const view = parseView(rest)
  return typeof view === 'string' ? view : { field, view }
}

function isViewName(name: string): name is ViewName {
  return Object.hasOwn(viewArities, name)
}
