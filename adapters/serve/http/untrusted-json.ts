// Parses untrusted JSON: accepts only text with one meaning, and values that the process can store, print again and sign.
import { isUtf8 } from 'node:buffer'
import { readStrictJson } from '../../../daemon/kernel/encoding/strict-json.ts'
import { type Refusal, refuse } from '../../../daemon/kernel/error/errors.ts'
import { default_body_values } from '../../../daemon/kernel/operation/operation.ts'

const max_depth = 64

/** Bytes of a number or a literal, with the blanks around it. */
const max_plain_bytes = 4_096

/**
 * The value, or `malformed`: bad UTF-8, bad syntax, nesting beyond 64, a repeated or `__proto__` key, a lone surrogate. More
 * than `max_values` values are `too_large`, before any of them is parsed.
 * A number beyond the range of a double is `invalid`: its syntax is right, and no field takes it.
 */
export function parseUntrustedJson(bytes: Buffer, max_values = default_body_values): unknown | Refusal {
  if (!isUtf8(bytes)) return refuse('malformed', 'the body is not UTF-8')
  const fault = bytes.length > 2 * max_depth ? findShapeFault(bytes, max_values) : undefined
  if (fault) return fault
  const read = readStrictJson(bytes, max_depth)
  if (read.outcome === 'value') return read.value
  const detail = read.outcome === 'incomplete' ? 'it ends too early' : read.detail
  return refuseNumberOutOfRange(bytes) ?? refuse('malformed', `the body is not JSON with one meaning: ${detail}`)
}

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const [openList, closeList, openObject, closeObject, colon] = [0x5b, 0x5d, 0x7b, 0x7d, 0x3a]

/** Measures nesting and values before anything is parsed. Each comma and each opening bracket begins a value. */
function findShapeFault(bytes: Buffer, max_values: number): Refusal | undefined {
  let [depth, values, plain_bytes] = [0, 0, 0]
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === quote) {
      at = findStringEnd(bytes, at)
      plain_bytes = 0
    } else if (byte === comma || byte === colon || byte === closeList || byte === closeObject) {
      if (byte === comma) values++
      else if (byte !== colon) depth--
      plain_bytes = 0
    } else if (byte === openList || byte === openObject) {
      values++
      plain_bytes = 0
      if (++depth > max_depth) return refuse('malformed', `the body is nested deeper than ${max_depth} levels`)
    } else if (++plain_bytes > max_plain_bytes) {
      return refuse('malformed', `the body has a number, or blanks, of more than ${max_plain_bytes} bytes`)
    }
    if (values > max_values) {
      return refuse(
        'too_large',
        `the body has more than ${max_values} values: send fewer in one request, or name a data file where the operation takes one`,
      )
    }
  }
  return undefined
}

/** The values of parsed JSON, counted as those of its text are: an empty list or object is one. */
export function countValues(parsed: unknown): number {
  if (typeof parsed !== 'object' || parsed === null) return 0
  const members = Object.values(parsed)
  return members.reduce((sum: number, member) => sum + countValues(member), Math.max(1, members.length))
}

/** Finds the closing quotation mark; the end of the bytes for an unfinished string. */
function findStringEnd(bytes: Buffer, from: number): number {
  for (let end = bytes.indexOf(quote, from + 1); end >= 0; end = bytes.indexOf(quote, end + 1)) {
    let escapes = 0
    while (bytes[end - 1 - escapes] === backslash) escapes++
    if (escapes % 2 === 0) return end
  }
  return bytes.length
}

/** Of text that the strict reader refused: undefined for one that was refused for another reason alone. */
function refuseNumberOutOfRange(bytes: Buffer): Refusal | undefined {
  try {
    const path = findNumberOutOfRange(JSON.parse(bytes.toString('utf8')), '')
    const errors = path === undefined ? undefined : [{ path, message: 'must be a finite number' }]
    return errors && refuse('invalid', 'a number is out of range', errors)
  } catch {
    return undefined
  }
}

function findNumberOutOfRange(value: unknown, path: string): string | undefined {
  if (typeof value === 'number' && !Number.isFinite(value)) return path
  if (typeof value !== 'object' || value === null) return undefined
  for (const [key, member] of Object.entries(value)) {
    const found = findNumberOutOfRange(member, path ? `${path}.${key}` : key)
    if (found !== undefined) return found
  }
  return undefined
}
