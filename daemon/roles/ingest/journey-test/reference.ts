// References to values of earlier responses within texts of a request: `${hop:path}`.
import type { JsonValue } from './key-path.ts'

/** `hop`: the task with the response; `path`: a key path, empty for the whole body. */
export type ResponseReference = { readonly hop: string; readonly path: string }

/** `$${` stands for the characters `${`. */
const pattern = /\$\$\{|\$\{([a-z][a-z0-9_]{0,62})(?::([^{}]{0,1024}))?\}/g
const whole = /^\$\{([a-z][a-z0-9_]{0,62})(?::([^{}]{0,1024}))?\}$/
const escaped = '$'.concat('${')
/** As documentation shows it. */
export const reference_form = '$'.concat('{hop:path}')

export function listReferences(value: JsonValue | undefined): ResponseReference[] {
  return listTexts(value).flatMap((text) =>
    [...text.matchAll(pattern)].flatMap(([, hop, path = '']) => (hop === undefined ? [] : [{ hop, path }])),
  )
}

/** A text with the beginning of a reference that is none; undefined where all are well formed. */
export function findBadReference(value: JsonValue | undefined): string | undefined {
  return listTexts(value).find((text) => text.replace(pattern, '').includes('${'))
}

/** A text that is one reference becomes the value itself; others take it as text. */
export function resolveReferences(value: JsonValue, read: (reference: ResponseReference) => JsonValue): JsonValue {
  if (typeof value === 'string') {
    const [, hop, path = ''] = whole.exec(value) ?? []
    return hop === undefined ? resolveText(value, (reference) => textOf(read(reference))) : read({ hop, path })
  }
  if (Array.isArray(value)) return value.map((element) => resolveReferences(element, read))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, resolveReferences(member, read)]))
}

export function resolveText(text: string, read: (reference: ResponseReference) => string): string {
  return text.replace(pattern, (found, hop?: string, path = '') =>
    found === escaped || hop === undefined ? '${' : read({ hop, path }),
  )
}

/** Of an object or a list, its JSON. */
export function textOf(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function listTexts(value: JsonValue | undefined): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap((member: JsonValue) => listTexts(member))
}
