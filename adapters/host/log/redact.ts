// Takes secrets out of log fields: by the name of a field at any depth, and by the look of a text anywhere.

import { isSecretName, redacted_text, redactText } from '../../../daemon/kernel/secret/redact-text.ts'

const max_depth = 8

/** A copy that is safe to write: secrets taken out, errors as plain fields, cycles and depths cut. Never throws. */
export function redactFields(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return redactValue(fields, []) as Record<string, unknown>
}

function redactValue(value: unknown, above: readonly object[]): unknown {
  if (typeof value === 'string') return redactText(value)
  if (typeof value === 'bigint') return String(value)
  if (typeof value === 'function' || typeof value === 'symbol') return undefined
  if (typeof value !== 'object' || value === null) return value
  if (above.includes(value) || above.length >= max_depth) return '[cut]'
  if (value instanceof Uint8Array) return `[${value.length} bytes]`
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString()
  const inside = [...above, value]
  if (Array.isArray(value)) return value.map((item) => redactValue(item, inside))
  if (value instanceof Map) return redactValue(Object.fromEntries([...value].map(withTextKey)), inside)
  if (value instanceof Set) return redactValue([...value], inside)
  return redactMembers(value, inside)
}

/** A key of a map can be any value, also an object that has no text. */
function withTextKey([key, value]: [unknown, unknown]): [string, unknown] {
  try {
    return [String(key), value]
  } catch {
    return ['[unreadable]', value]
  }
}

function redactMembers(value: object, inside: readonly object[]): Record<string, unknown> {
  const copy: Record<string, unknown> = {}
  if (value instanceof Error) {
    copy.name = value.name
    copy.message = redactText(value.message)
    copy.stack = redactText(value.stack ?? '')
    if (value.cause !== undefined) copy.cause = redactValue(value.cause, inside)
  }
  for (const name of Object.keys(value)) {
    copy[name] = isSecretName(name) ? redacted_text : redactValue(readMember(value, name), inside)
  }
  return copy
}

function readMember(from: object, name: string): unknown {
  try {
    return Reflect.get(from, name)
  } catch {
    return '[unreadable]'
  }
}
