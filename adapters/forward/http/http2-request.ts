// Translates the head of an HTTP/2 request into that of HTTP/1.1, which the checks and the upstream know.
import { METHODS } from 'node:http'
import type { BodyFraming, RequestFault } from '../../../daemon/kernel/forward/exchange.ts'
import type { InboundLimits } from './limits.ts'
import { checkRequestFraming, requestFaults } from './request-fault.ts'

export type Http2Request = {
  readonly method: string
  readonly target: string
  /** As in HTTP/1.1: with `host`, and cookies in one field. */
  readonly rawHeaders: readonly string[]
  readonly framing: BodyFraming | RequestFault
}

/** Those of the parser of HTTP/1.1: the checks behind the listener know no others, nor these in lower case. */
const knownMethods: ReadonlySet<string> = new Set(METHODS)
/** Targets of HTTP/1.1 as well, besides the forms that name a host: here another field names it. */
const targetPattern = /^(?:\/[!-~]*|\*)$/

/**
 * @param raw alternating names and values, pseudo-fields included. The library has refused upper-case names, fields of one
 * connection, control bytes, and repeated or late pseudo-fields (RFC 9113, section 8.2).
 */
export function readHttp2Request(raw: readonly string[], isEnded: boolean, limits: InboundLimits): Http2Request {
  const pseudo = new Map<string, string>()
  const fields: string[] = []
  const cookies: string[] = []
  let host: string | undefined
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const [name, value] = [raw[at] as string, raw[at + 1] as string]
    if (name.startsWith(':')) pseudo.set(name, value)
    else if (name === 'cookie') cookies.push(value)
    else if (name === 'host') host = host === undefined || host === value ? value : 'two hosts'
    else fields.push(name, value)
  }
  // Clients may split cookies (section 8.2.3), and a server of HTTP/1.1 takes the first field alone.
  if (cookies.length > 0) fields.push('cookie', cookies.join('; '))
  const authority = pseudo.get(':authority') ?? host
  const rawHeaders = authority === undefined ? fields : ['host', authority, ...fields]
  const method = pseudo.get(':method') ?? ''
  const target = pseudo.get(':path') ?? ''
  const isOneHost = host === undefined || host === authority
  // The library enforces the announced limit only after the client has acknowledged it.
  const head_bytes = raw.reduce((sum, text) => sum + text.length, 0)
  const isTooLarge = head_bytes > limits.header_bytes
  const fault = isTooLarge
    ? requestFaults.fields
    : (findLineFault(pseudo) ?? (isOneHost ? undefined : requestFaults.host))
  const framing = fault ?? checkRequestFraming('1.1', rawHeaders, limits.header_fields)
  // Without a length the body ends with its stream.
  const hasLength = fields.some((name, at) => at % 2 === 0 && name === 'content-length')
  const isUnknown = !isEnded && !hasLength
  return { method, target, rawHeaders, framing: isUnknown && framing === 0 ? 'chunked' : framing }
}

/** The library leaves the path free for schemes other than those of HTTP. */
function findLineFault(pseudo: ReadonlyMap<string, string>): RequestFault | undefined {
  const method = pseudo.get(':method') ?? ''
  if (method === 'CONNECT') return requestFaults.tunnel
  if (!knownMethods.has(method)) return requestFaults.method
  const isTarget = pseudo.get(':scheme') === 'https' && targetPattern.test(pseudo.get(':path') ?? '')
  return isTarget ? undefined : requestFaults.target
}
