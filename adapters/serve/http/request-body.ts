// Decides whether a body may be read, before reading a byte of it, and parses it.
import type { IncomingHttpHeaders } from 'node:http'
import { setImmediate as pause } from 'node:timers/promises'
import { type Refusal, refuse } from '../../../daemon/kernel/error/errors.ts'
import type { SignedBody } from '../../../daemon/kernel/operation/call.ts'
import { hasBody, type RequestTarget } from '../../../daemon/kernel/operation/operation.ts'
import { runInSlices } from '../../../daemon/kernel/role/run-in-slices.ts'
import { parseUntrustedJson, untrustedJsonReading } from './untrusted-json.ts'

type RouteOperation = RequestTarget['operation']

const loop = { monotonic: () => performance.now(), pause: () => pause() }

const form_type = 'application/x-www-form-urlencoded'

/** Why this body will not be read; `undefined` when it will, or when there is none. */
export function checkBodyHeaders(operation: RouteOperation, headers: IncomingHttpHeaders): Refusal | undefined {
  if (!hasAnnouncedBody(headers)) return undefined
  if (!hasBody(operation.method)) return refuse('malformed', 'this operation takes no body')
  const wanted = operation.consumes ?? 'application/json'
  const coding = headers['content-encoding']
  if (coding !== undefined && coding.toLowerCase() !== 'identity') {
    return refuse('unsupported_media_type', 'a body may not be compressed')
  }
  if (isOfType(wanted, headers['content-type'])) return undefined
  return refuse('unsupported_media_type', `the body must be ${wanted}`)
}

export function hasAnnouncedBody(headers: IncomingHttpHeaders): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

/** The most bytes that the body may take: its declared length, or the limit of the operation when it declares none. */
export function declaredBytes(headers: IncomingHttpHeaders, most_bytes: number): number {
  if (headers['transfer-encoding'] !== undefined) return most_bytes
  return Math.min(Number(headers['content-length'] ?? 0), most_bytes)
}

function isOfType(wanted: string, given: string | undefined): boolean {
  if (given === wanted) return true
  const [type, ...parameters] = (given ?? '').toLowerCase().split(';')
  return type?.trim() === wanted && parameters.every((one) => /^\s*(charset="?utf-8"?)?\s*$/.test(one))
}

/** The input of a signed operation, in place of a parsed value. */
export function readSignedBody(headers: IncomingHttpHeaders, body: unknown): SignedBody {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.alloc(0)
  const fields = Object.entries(headers).map(([name, value = '']) => [name, String(value)] as const)
  return { headers: Object.fromEntries(fields), bytes, parse: () => parseUntrustedJson(bytes) }
}

/** The body as a value; `undefined` for an empty one. */
export async function parseBody(operation: RouteOperation, body: unknown): Promise<unknown | Refusal> {
  if (!Buffer.isBuffer(body) || body.length === 0) return undefined
  if (operation.consumes === form_type) return parseForm(body)
  return await runInSlices(loop, untrustedJsonReading(body, operation.max_body_values))
}

function parseForm(body: Buffer): Record<string, string> | Refusal {
  const fields = new Map<string, string>()
  for (const [name, value] of new URLSearchParams(body.toString('utf8'))) {
    if (fields.has(name) || name === '__proto__') {
      return refuse('malformed', 'a field is given more than once, or has a name that no field may have')
    }
    fields.set(name, value)
  }
  return Object.fromEntries(fields)
}
