// Reads JSON from outside: the value, or undefined for anything else, so that each caller says what it expected.
import type * as z from 'zod'

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The value of JSON text or of its UTF-8 bytes; undefined for anything else. Bytes with a byte order mark are not JSON. */
export function parseJson(json: string | Uint8Array): unknown {
  try {
    return JSON.parse(typeof json === 'string' ? json : utf8.decode(json))
  } catch {
    return undefined
  }
}

/** The same as the schema reads it; undefined for what is not JSON, and for what is not of the schema. */
export function parseJsonAs<T>(schema: z.ZodType<T>, json: string | Uint8Array): T | undefined {
  return schema.safeParse(parseJson(json)).data
}

/**
 * The value of the one text that `print` makes of it; undefined for any other bytes. A repeated member, which two parsers
 * may read differently, is therefore refused, and so is a layout other than the printer's.
 */
export function parseExactJson(bytes: Uint8Array, print: (value: unknown) => string): unknown {
  try {
    const text = utf8.decode(bytes)
    const value: unknown = JSON.parse(text)
    return print(value) === text ? value : undefined
  } catch {
    return undefined
  }
}
