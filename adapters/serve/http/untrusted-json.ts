// Parses untrusted JSON: accepts only values that the rest of the process can store, print again and sign.
import { isUtf8 } from 'node:buffer'
import { type Refusal, refuse } from '../../../daemon/kernel/error/errors.ts'

const max_depth = 64

/** Matches texts that `findFlaw` may refuse; the values of other texts are not walked. */
const suspiciousPattern = /__proto__|\\u|[eE]\+?\d{3}|\d{309}/

/**
 * The value, or `malformed`: bad UTF-8, bad syntax, nesting beyond 64, a `__proto__` key, a lone surrogate.
 * A number beyond the range of a double is `invalid`: its syntax is right, and no field takes it.
 */
export function parseUntrustedJson(bytes: Buffer): unknown | Refusal {
  if (!isUtf8(bytes)) return refuse('malformed', 'the body is not UTF-8')
  if (bytes.length > 2 * max_depth && isTooDeep(bytes)) {
    return refuse('malformed', `the body is nested deeper than ${max_depth} levels`)
  }
  const text = bytes.toString('utf8')
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return refuse('malformed', 'the body is not JSON')
  }
  return (suspiciousPattern.test(text) ? findFlaw(value, '') : undefined) ?? value
}

const quote = 0x22
const backslash = 0x5c

function isTooDeep(bytes: Buffer): boolean {
  let depth = 0
  let inString = false
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i]
    if (inString) {
      if (byte === backslash) i++
      else if (byte === quote) inString = false
    } else if (byte === quote) inString = true
    else if (byte === 0x5b || byte === 0x7b) {
      if (++depth > max_depth) return true
    } else if (byte === 0x5d || byte === 0x7d) depth--
  }
  return false
}

function findFlaw(value: unknown, path: string): Refusal | undefined {
  if (typeof value === 'number' && !Number.isFinite(value)) {
    return refuse('invalid', 'a number is out of range', [{ path, message: 'must be a finite number' }])
  }
  if (typeof value === 'string') return value.isWellFormed() ? undefined : loneSurrogateRefusal()
  if (typeof value !== 'object' || value === null) return undefined
  for (const [key, member] of Object.entries(value)) {
    if (key === '__proto__') return refuse('malformed', 'the body has a key that no object may have')
    const flaw = key.isWellFormed() ? findFlaw(member, path ? `${path}.${key}` : key) : loneSurrogateRefusal()
    if (flaw) return flaw
  }
  return undefined
}

function loneSurrogateRefusal(): Refusal {
  return refuse('malformed', 'a string holds half a surrogate pair')
}
