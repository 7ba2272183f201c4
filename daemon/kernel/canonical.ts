// Canonical JSON (RFC 8785) and digests over it: one byte string for one value, everywhere.
import { createHash } from 'node:crypto'

/**
 * RFC 8785 (JCS): keys sorted by UTF-16 code units, numbers and strings as ECMAScript prints them.
 * `undefined` members are left out; a value that JSON cannot carry (NaN, infinity, a lone surrogate) throws.
 */
export function canonical(value: unknown): string {
  if (value === null || typeof value === 'boolean') return String(value)
  if (typeof value === 'number') return canonicalNumber(value)
  if (typeof value === 'string') return canonicalString(value)
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item ?? null)).join(',')}]`
  if (typeof value === 'object') return canonicalObject(value as Record<string, unknown>)
  throw new TypeError(`canonical JSON has no ${typeof value}`)
}

function canonicalObject(value: Record<string, unknown>): string {
  const parts: string[] = []
  for (const key of Object.keys(value).sort()) {
    const member = value[key]
    if (member !== undefined) parts.push(`${canonicalString(key)}:${canonical(member)}`)
  }
  return `{${parts.join(',')}}`
}

function canonicalNumber(value: number): string {
  if (!Number.isFinite(value)) throw new TypeError('canonical JSON has no NaN and no infinity')
  return JSON.stringify(value)
}

function canonicalString(value: string): string {
  if (!value.isWellFormed()) throw new TypeError('canonical JSON has no lone surrogates')
  return JSON.stringify(value)
}

/** SHA-256 of the canonical form, 64 lower-case hexadecimal digits. */
export function digestOf(value: unknown): string {
  return sha256(canonical(value))
}

export function sha256(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex')
}

/** SHA-384, 96 lower-case hexadecimal digits: the digest of the file-drop format. */
export function sha384(data: string | Uint8Array): string {
  return createHash('sha384').update(data).digest('hex')
}
