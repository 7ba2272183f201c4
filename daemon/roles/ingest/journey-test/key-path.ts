// Paths to values in the body of a response: names and positions joined by dots, or a JSON pointer.
import * as z from 'zod'

/** A value of JSON text. */
export type JsonValue = z.core.util.JSONType

export const keyPath = z
  .string()
  .max(1_024)
  .refine(
    (path) => path === '' || path.startsWith('/') || path.split('.').every((part) => part !== ''),
    'must be names and positions joined by dots, such as items.0.status, or a JSON pointer, such as /items/0/status',
  )
  .meta({
    description:
      'Path of a value in the body: names and positions joined by dots, such as items.0.status, or a JSON pointer (RFC 6901). Empty: the whole body',
  })

/** Undefined where the value has nothing there. */
export function readKeyPath(value: JsonValue, path: string): JsonValue | undefined {
  let at: JsonValue | undefined = value
  for (const part of splitPath(path)) {
    if (typeof at !== 'object' || at === null) return undefined
    if (Array.isArray(at) && !/^(?:0|[1-9]\d{0,9})$/.test(part)) return undefined
    at = Object.hasOwn(at, part) ? (at as Record<string, JsonValue>)[part] : undefined
  }
  return at
}

export function splitPath(path: string): string[] {
  if (path === '') return []
  if (!path.startsWith('/')) return path.split('.')
  return path
    .slice(1)
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
}
