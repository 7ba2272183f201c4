// Parses untrusted JSON: accepts only text with one meaning, and values that the process can store, print again and sign.
import { isUtf8 } from 'node:buffer'
import { strictJsonReading } from '../../../daemon/kernel/encoding/strict-json.ts'
import { type Refusal, refuse } from '../../../daemon/kernel/error/errors.ts'
import { default_body_values } from '../../../daemon/kernel/operation/operation.ts'
import { runToEnd } from '../../../daemon/kernel/role/run-to-end.ts'

const max_depth = 64
/** More than a text of 1 MiB has where each letter is an escape of six bytes. */
const max_escapes = 200_000

/**
 * The value, or `malformed`: bad UTF-8, bad syntax, nesting beyond 64, a repeated or `__proto__` key, a lone surrogate. More
 * than `max_values` values, or 200,000 escapes, are `too_large`, before any of them is parsed.
 * A number beyond the range of a double is `invalid`: its syntax is right, and no field takes it.
 */
export function parseUntrustedJson(bytes: Buffer, max_values = default_body_values): unknown | Refusal {
  return runToEnd(untrustedJsonReading(bytes, max_values))
}

/** The same as a computation for `runInSlices`. */
export function* untrustedJsonReading(
  bytes: Buffer,
  max_values = default_body_values,
): Generator<undefined, unknown | Refusal, undefined> {
  if (!isUtf8(bytes)) return refuse('malformed', 'the body is not UTF-8')
  const read = yield* strictJsonReading(bytes, { max_depth, max_values, max_escapes })
  if (read.outcome === 'value') return read.value
  const detail = read.outcome === 'incomplete' ? 'it ends too early' : read.detail
  if (read.outcome === 'TOO_LARGE') {
    const advice = 'send fewer in one request, or name a data file where the operation takes one'
    return refuse('too_large', `the body has ${detail}: ${advice}`)
  }
  if ('number_path' in read && read.number_path !== undefined) {
    const errors = [{ path: read.number_path, message: 'must be a finite number' }]
    return refuse('invalid', 'a number is out of range', errors)
  }
  return refuse('malformed', `the body is not JSON with one meaning: ${detail}`)
}

/** The values of parsed JSON, counted as those of its text are. */
export function countValues(parsed: unknown): number {
  if (typeof parsed !== 'object' || parsed === null) return 1
  return Object.values(parsed).reduce((sum: number, member) => sum + countValues(member), 1)
}
