// Finds faults that Node's strict parser lets pass, in one pass over the header fields of a request.
import type { BodyFraming, RequestFault } from '../../../daemon/kernel/forward/exchange.ts'

export const requestFaults = {
  version: { status: 505, reason: 'bad_version' },
  host: { status: 400, reason: 'bad_host' },
  framing: { status: 400, reason: 'bad_framing' },
  fields: { status: 431, reason: 'too_many_fields' },
  name: { status: 400, reason: 'bad_name' },
  coding: { status: 501, reason: 'unknown_coding' },
  expectation: { status: 417, reason: 'unknown_expectation' },
  tunnel: { status: 400, reason: 'tunnel' },
  method: { status: 501, reason: 'unknown_method' },
  target: { status: 400, reason: 'bad_target' },
} as const satisfies Readonly<Record<string, RequestFault>>

/** Field names that are checked, and their lengths: a name of another length cannot be one of them. */
const name_lengths = { host: 4, expect: 6, content_length: 14, transfer_encoding: 17 }

/** No registered name has half of this; names whose length overflows a byte have hidden requests (CVE-2021-40346). */
const max_name_length = 128

/** Host and an optional port (RFC 9112, section 3.2): characters of names, IPv4 and bracketed IPv6, or nothing. */
const hostPattern = /^(?:[\dA-Za-z._~%!$&'()*+;=-]*|\[[\dA-Fa-f:.]+\])(?::\d{0,5})?$/

/**
 * @param rawHeaders names and values in turn, as the client wrote them.
 * @param most how many fields there may be.
 */
export function checkRequestFraming(
  version: string,
  rawHeaders: readonly string[],
  most: number,
): BodyFraming | RequestFault {
  if (version !== '1.1' && version !== '1.0') return requestFaults.version
  if (rawHeaders.length > most * 2) return requestFaults.fields
  let hosts = 0
  let framing: BodyFraming = 0
  let framings = 0
  let isExpectable = true
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string
    const value = rawHeaders[at + 1] as string
    if (name.length > max_name_length) return requestFaults.name
    if (name.length === name_lengths.host && name.toLowerCase() === 'host') {
      hosts++
      if (!hostPattern.test(value)) return requestFaults.host
    } else if (name.length === name_lengths.content_length && toDashes(name) === 'content-length') {
      framings++
      if (name.includes('_') || !/^\d{1,15}$/.test(value)) return requestFaults.framing
      framing = Number(value)
    } else if (name.length === name_lengths.transfer_encoding && toDashes(name) === 'transfer-encoding') {
      framings++
      if (name.includes('_') || version === '1.0') return requestFaults.framing
      if (value.toLowerCase() !== 'chunked') return requestFaults.coding
      framing = 'chunked'
    } else if (name.length === name_lengths.expect && name.toLowerCase() === 'expect') {
      isExpectable &&= value.toLowerCase() === '100-continue'
    }
  }
  if (framings > 1) return requestFaults.framing
  if (hosts > 1 || (hosts === 0 && version === '1.1')) return requestFaults.host
  return isExpectable ? framing : requestFaults.expectation
}

/**
 * Whether the request is a handshake of RFC 6455, section 4.1, without a body and without a fault. Any other request for a
 * switch is an ordinary request: Node gives all later bytes of the connection to the new protocol, so it must be certain.
 */
export function requestsWebSocket({ method, httpVersion, rawHeaders }: WebSocketHandshake, most: number): boolean {
  if (method !== 'GET' || httpVersion !== '1.1') return false
  if (checkRequestFraming(httpVersion, rawHeaders, most) !== 0) return false
  const values = (wanted: string) =>
    rawHeaders.filter((_, at) => at % 2 === 1 && (rawHeaders[at - 1] as string).toLowerCase() === wanted)
  const hasOne = (name: string, pattern: RegExp) => {
    const [value, ...more] = values(name)
    return value !== undefined && more.length === 0 && pattern.test(value)
  }
  return (
    hasOne('upgrade', /^websocket$/i) &&
    hasOne('sec-websocket-version', /^13$/) &&
    hasOne('sec-websocket-key', /^[\dA-Za-z+/]{22}==$/)
  )
}

/** Whether the request names another protocol, be it one that the listener offers or not. */
export function requestsUpgrade(rawHeaders: readonly string[]): boolean {
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string
    if (name.length === 7 && name.toLowerCase() === 'upgrade') return true
  }
  return false
}

type WebSocketHandshake = {
  readonly method?: string | undefined
  readonly httpVersion: string
  readonly rawHeaders: readonly string[]
}

/** Gateways of the CGI kind read `_` as `-`: a length by that name would frame a body there and none here. */
const toDashes = (name: string) => name.toLowerCase().replaceAll('_', '-')
