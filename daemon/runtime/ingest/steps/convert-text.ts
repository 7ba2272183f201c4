// The text of a value in the form of another type.
import { parseTyped, type ValueType } from '../../../kernel/data/data-schema.ts'

/**
 * Undefined where the value has no form of the type without a loss, but that a time gives its day as a date. Blanks around the
 * value do not count; an empty one is missing, which is undefined too for all types but text.
 */
export function convertText(text: string, wanted: ValueType): string | undefined {
  if (wanted.type === 'text') return text
  const trimmed = text.trim()
  if (parseTyped(wanted, trimmed) !== undefined) return trimmed
  const converted = converters[wanted.type](trimmed)
  return converted !== undefined && parseTyped(wanted, converted) !== undefined ? converted : undefined
}

const truths: Readonly<Record<string, string>> = { '1': 'true', '0': 'false', yes: 'true', no: 'false' }

const converters: Readonly<Record<Exclude<ValueType['type'], 'text'>, (text: string) => string | undefined>> = {
  boolean: (text) => truths[text.toLowerCase()],
  int32: writeInteger,
  int64: writeInteger,
  double: writeDecimal,
  date: (text) => /^(\d{4}-\d\d-\d\d)[T ]\d\d:\d\d/.exec(text)?.[1],
  timestamp: (text) => (/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : undefined),
  local_timestamp: (text) => (/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00` : undefined),
}

/** `007`, `+7` and `7.0` are 7. */
function writeInteger(text: string): string | undefined {
  const [, sign = '', digits] = /^([+-]?)0*(\d{1,20})(?:\.0*)?$/.exec(text) ?? []
  if (digits === undefined) return undefined
  return digits === '0' ? '0' : `${sign === '-' ? '-' : ''}${digits}`
}

/** The nearest double of any decimal number. */
function writeDecimal(text: string): string | undefined {
  if (!/^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,4})?$/.test(text)) return undefined
  const value = Number(text)
  return Number.isFinite(value) ? String(value) : undefined
}
