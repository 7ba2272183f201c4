// Canonical JSON (RFC 8785) and digests over it: equal values give equal bytes.
import { hash } from 'node:crypto'

/**
 * RFC 8785 (JCS): keys sorted by UTF-16 code units, numbers and strings as ECMAScript prints them.
 * `undefined` members are left out; a value that JSON cannot carry (NaN, infinity, a lone surrogate) throws.
 */
export function canonicalJson(value: unknown): string {
  return isCanonical(value) ? JSON.stringify(value) : canonicalValue(value)
}

/** Whether `JSON.stringify` already prints the value canonically; it is five times faster than the code below. */
function isCanonical(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed()
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value !== 'object') return typeof value === 'boolean'
  if (value === null) return true
  if (Array.isArray(value)) return value.every(isCanonical)
  return Object.getPrototypeOf(value) === Object.prototype && isSorted(value as Record<string, unknown>)
}

function isSorted(value: Record<string, unknown>): boolean {
  let before: string | undefined
  for (const key of Object.keys(value)) {
    if ((before !== undefined && key <= before) || key === 'toJSON' || !key.isWellFormed()) return false
    const member = value[key]
    if (member !== undefined && !isCanonical(member)) return false
    before = key
  }
  return true
}

function canonicalValue(value: unknown): string {
  if (value === null || typeof value === 'boolean') return String(value)
  if (typeof value === 'number') return canonicalNumber(value)
  if (typeof value === 'string') return canonicalString(value)
  if (Array.isArray(value)) return `[${Array.from(value, (item) => canonicalValue(item ?? null)).join(',')}]`
  if (typeof value === 'object') return canonicalObject(value as Record<string, unknown>)
  throw new TypeError(`canonical JSON cannot represent a value of type ${typeof value}`)
}

function canonicalObject(value: Record<string, unknown>): string {
  const parts: string[] = []
  for (const key of Object.keys(value).sort()) {
    const member = value[key]
    if (member !== undefined) parts.push(`${canonicalString(key)}:${canonicalValue(member)}`)
  }
  return `{${parts.join(',')}}`
}

function canonicalNumber(value: number): string {
  if (!Number.isFinite(value)) throw new TypeError('canonical JSON cannot represent NaN or infinity')
  return JSON.stringify(value)
}

function canonicalString(value: string): string {
  if (!value.isWellFormed()) throw new TypeError('canonical JSON cannot represent a lone surrogate')
  return JSON.stringify(value)
}

/** SHA-256 of the canonical form, 64 lower-case hexadecimal digits. */
export function canonicalDigest(value: unknown): string {
  return sha256(canonicalJson(value))
}

export function sha256(data: string | Uint8Array): string {
  return hash('sha256', data, 'hex')
}

/** SHA-384, 96 lower-case hexadecimal digits: the digest of the file-drop format. */
export function sha384(data: string | Uint8Array): string {
  return hash('sha384', data, 'hex')
}
