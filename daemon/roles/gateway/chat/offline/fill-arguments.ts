// Fills the arguments of a tool from the words of a message: named values, listed values, ids, quoted texts and numbers.

import type { ToolField } from './list-fields.ts'
import type { MessageValues } from './read-values.ts'

export type FilledArguments = {
  readonly input: Readonly<Record<string, unknown>>
  /** Required fields that the message has no value for. */
  readonly missing: readonly ToolField[]
}

/** A value is used once. Optional fields take only what is named, listed, or a number of items. */
export function fillArguments(fields: readonly ToolField[], values: MessageValues): FilledArguments {
  const filled = new Map<string, unknown>()
  const take = (field: ToolField, text: string | undefined) => {
    const value = text === undefined ? undefined : toType(field, text)
    if (value !== undefined) filled.set(field.name, value)
    return value !== undefined
  }
  for (const field of fields) take(field, values.named.get(field.name))
  for (const field of fields) if (!filled.has(field.name)) take(field, findListed(field, values.words))
  const open = () => fields.filter(({ name, isRequired }) => isRequired && !filled.has(name))
  const ids = values.ids.filter((id) => ![...values.named.values()].includes(id))
  // Fields of ids take ids first; other texts take what is quoted, then ids that are left.
  for (const field of open()) if (isIdField(field) && take(field, ids[0])) ids.shift()
  const quoted = [...values.quoted]
  for (const field of open()) if (field.values.length === 0 && take(field, quoted[0])) quoted.shift()
  for (const field of open()) if (isText(field) && field.values.length === 0 && take(field, ids[0])) ids.shift()
  const numbers = [...values.numbers]
  for (const field of open()) if (isNumber(field) && take(field, numbers[0])) numbers.shift()
  const limit = fields.find(({ name }) => name === 'limit')
  if (limit && !filled.has('limit')) take(limit, values.item_count)
  return { input: Object.fromEntries(filled), missing: open() }
}

const isIdField = ({ name }: ToolField) => /(^|_)u?ids?$/.test(name)
const isText = ({ type }: ToolField) => type === 'string' || type === 'other'
const isNumber = ({ type }: ToolField) => type === 'number' || type === 'integer'

/** The one listed value that the message has; undefined where it has two. */
function findListed({ values }: ToolField, words: readonly string[]): string | undefined {
  const found = values.filter((value) => {
    const parts = value.toLowerCase().split(/[\s_-]+/)
    return words.some((_, at) => parts.every((part, n) => words[at + n] === part))
  })
  return found.length === 1 ? found[0] : undefined
}

function toType({ type, values }: ToolField, text: string): unknown {
  if (values.length > 0) {
    const listed = values.find((value) => value.toLowerCase() === text.toLowerCase())
    return listed === undefined || type !== 'array' ? listed : [listed]
  }
  if (type === 'number' || type === 'integer') {
    const number = /^-?\d{1,15}(\.\d{1,15})?$/.test(text) ? Number(text) : Number.NaN
    return Number.isNaN(number) || (type === 'integer' && !Number.isSafeInteger(number)) ? undefined : number
  }
  if (type === 'boolean') return booleans.get(text.toLowerCase())
  return type === 'array' ? text.split(',').map((part) => part.trim()) : text
}

const booleans: ReadonlyMap<string, boolean> = new Map([
  ...(['true', 'yes'] as const).map((word) => [word, true] as const),
  ...(['false', 'no'] as const).map((word) => [word, false] as const),
])
