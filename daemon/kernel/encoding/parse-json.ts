// Parses JSON from outside: text that two parsers could read differently is refused, since readers of what was signed must
// all see the same value. Anything else becomes undefined, so that each caller words its own refusal.
import type * as z from 'zod'
import { parseStrictJson } from './strict-json.ts'

/** A document of a request has at most 64 levels, and an answer wraps it in a few more. */
const limits = { max_depth: 128 }

/**
 * The value of strict JSON (`readStrictJson`), as text or as UTF-8 bytes; undefined for anything else. Bytes with a byte
 * order mark are not JSON.
 */
export function parseJson(json: string | Uint8Array): unknown {
  return parseStrictJson(json, limits)
}

/** The same as the schema reads it; undefined for what is not JSON, and for what is not of the schema. */
export function parseJsonAs<T>(schema: z.ZodType<T>, json: string | Uint8Array): T | undefined {
  return schema.safeParse(parseJson(json)).data
}

/**
 * The value of strict JSON whose one text is what `print` makes of it; undefined for any other bytes, and so for a layout
 * other than the printer's.
 */
export function parseExactJson(bytes: Uint8Array, print: (value: unknown) => string): unknown {
  try {
    const value = parseJson(bytes)
    return Buffer.from(print(value)).equals(bytes) ? value : undefined
  } catch {
    return undefined
  }
}
