// Parses a line as a record, and formats its values as text.
import { not_utf8 } from '../../../daemon/kernel/data/data-fault.ts'
import { countMembers, findAmbiguity } from './ambiguous-json.ts'

/** Matches lines that may have a number that changes when parsed; cheaper than a check of each number. */
const longNumberPattern = /\d{16}|\d[eE]/

/** Keeps a number with more digits than a double can represent as written, since it may be an identifier. */
function reviveLongNumber(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value
  return context?.source ?? value
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Returns the object of a line, or what is wrong with the line. */
export function parseJsonRecord(line: Uint8Array): Readonly<Record<string, unknown>> | string {
  let text: string
  try {
    text = decoder.decode(line)
  } catch {
    return not_utf8
  }
  const members = countMembers(line)
  if (members === undefined) return 'the line is nested too deeply'
  let value: unknown
  try {
    value = longNumberPattern.test(text) ? JSON.parse(text, reviveLongNumber) : JSON.parse(text)
  } catch {
    return 'the line is not JSON'
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return 'the line is not an object: write each record as a line such as {"id": "1", "name": "Ann"}'
  const record = value as Record<string, unknown>
  return findAmbiguity(record, members, text) ?? record
}

const isPlain = (item: unknown) => typeof item !== 'object' || item === null

/** Formats a value as text, undefined for null; or says what is wrong with it. `separator` joins the items of a list. */
export function formatJsonValue(value: unknown, separator: string): { text: string | undefined } | { fault: string } {
  if (value === null) return { text: undefined }
  if (isPlain(value)) return { text: String(value) }
  if (Array.isArray(value) && value.every(isPlain)) {
    return { text: value.filter((item) => item !== null).join(separator) }
  }
  const kind = Array.isArray(value) ? 'a nested list' : 'an object'
  return { fault: `${kind}, which is not supported: write its values under keys of the record` }
}
