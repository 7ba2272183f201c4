// Headers of a request: only those on a fixed list are forwarded to the upstream.
import type { RequestSource } from './source.ts'

/** The result of one pass over the headers of a request. Lists alternate names and values. */
export type ProxyRequestHeaders = {
  /** Headers for the upstream: unique names in lower case, without Accept-Encoding. */
  readonly allowed: readonly string[]
  /** '' for none. Forwarded only where responses are not cached: see `decideRequest`. */
  readonly accept_encoding: string
  /** Every X-Forwarded-For in order, joined by commas. */
  readonly forwarded_for: string
  /** Whether a body is announced: Transfer-Encoding, or a Content-Length other than 0. */
  readonly hasBody: boolean
  readonly fault: 'duplicate_header' | 'header_character' | 'framing' | undefined
}

/** How a known header is handled. All other headers are dropped. */
type HeaderHandling =
  /** Forwarded; a second one is denied. */
  | 'single'
  /** Forwarded; several are joined to one list. */
  | 'list'
  /** Forwarded where it is well formed; a second one is denied. */
  | 'trace'
  /** Dropped; a second one is denied. */
  | 'once'
  /** Denied: servers that read _ as - would take it for the length of the body. */
  | 'alias'
  | 'encoding'
  | 'source'
  | 'length'
  | 'transfer'
  | 'connection'

/**
 * The headers that an anonymous caller may send to a backend: format, range and freshness of the response, and form
 * of the body. No identity, cookie, address, method or path override, and no hop-by-hop header.
 */
const headerHandlings: Readonly<Record<string, HeaderHandling>> = {
  accept: 'list',
  'accept-language': 'list',
  'accept-encoding': 'encoding',
  'content-type': 'single',
  'content-language': 'single',
  'content-encoding': 'single',
  'if-none-match': 'list',
  'if-match': 'list',
  'if-modified-since': 'single',
  'if-unmodified-since': 'single',
  'if-range': 'single',
  range: 'single',
  traceparent: 'trace',
  'x-forwarded-for': 'source',
  'content-length': 'length',
  'transfer-encoding': 'transfer',
  connection: 'connection',
  content_length: 'alias',
  transfer_encoding: 'alias',
  host: 'once',
}

/** Forwarded headers by which an upstream may choose the form of a complete answer. */
export const negotiationHeaders: readonly string[] = [
  'accept',
  'accept-language',
  'content-type',
  'content-language',
  'content-encoding',
]

/** Whether a header named by Vary can differ between two callers whose requests are otherwise equal. */
export function reachesUpstream(name: string): boolean {
  const meaning = headerHandlings[name]
  // Where responses are cached, the upstream receives a fixed Accept-Encoding.
  return meaning === 'single' || meaning === 'list' || meaning === 'trace' || meaning === 'source'
}

type KnownHeader = { readonly name: string; readonly meaning: HeaderHandling; readonly bit: number }

/** Known headers by their common spellings, so that few names need conversion to lower case. */
const knownHeaders = new Map<string, KnownHeader>()
for (const [at, [name, meaning]] of Object.entries(headerHandlings).entries()) {
  const entry = { name, meaning, bit: 1 << at }
  knownHeaders.set(name, entry)
  knownHeaders.set(
    name.replaceAll(/\b[a-z]/g, (letter) => letter.toUpperCase()),
    entry,
  )
}
/** Two headers that both mark the end of the body: servers that prefer different ones see different requests. */
const conflictingLengthBits =
  (knownHeaders.get('content-length')?.bit ?? 0) | (knownHeaders.get('transfer-encoding')?.bit ?? 0)
const max_name_characters = Math.max(...[...knownHeaders.keys()].map((name) => name.length))

const traceparentPattern = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/
const unprintablePattern = /[^\t -~]/

/** Reads the raw headers in one pass: name, value, name, value. */
export function readRequestHeaders(raw: readonly string[]): ProxyRequestHeaders {
  const into: HeaderScan = {
    allowed: [],
    accept_encoding: '',
    forwarded_for: '',
    hasBody: false,
    fault: undefined,
    seenBits: 0,
    connection: '',
  }
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const written = raw[at] as string
    const handling =
      knownHeaders.get(written) ??
      (written.length <= max_name_characters ? knownHeaders.get(written.toLowerCase()) : undefined)
    if (handling) scanHeader(into, handling, raw[at + 1] as string)
  }
  if (into.connection !== '') removeConnectionHeaders(into)
  if ((into.seenBits & conflictingLengthBits) === conflictingLengthBits) into.fault ??= 'framing'
  return into
}

type HeaderScan = { -readonly [K in keyof ProxyRequestHeaders]: ProxyRequestHeaders[K] } & {
  allowed: string[]
  /** Bits of the names seen so far. */
  seenBits: number
  /** Value of Connection, unless it only controls the lifetime of the connection. */
  connection: string
}

function scanHeader(into: HeaderScan, { name, meaning, bit }: KnownHeader, value: string): void {
  const isRepeated = (into.seenBits & bit) !== 0
  into.seenBits |= bit
  switch (meaning) {
    case 'source':
      into.forwarded_for = isRepeated ? `${into.forwarded_for},${value}` : value
      return
    case 'connection':
      if (value !== 'keep-alive' && value !== 'close') into.connection += `,${value}`
      return
    case 'transfer':
      into.hasBody = true
      if (isRepeated || value.toLowerCase() !== 'chunked') into.fault ??= 'framing'
      return
    case 'alias':
      into.fault ??= 'framing'
      return
    case 'list':
      allowHeader(into, name, value, isRepeated)
      return
    case 'encoding':
      into.accept_encoding = isRepeated ? `${into.accept_encoding}, ${value}` : value
      if (unprintablePattern.test(value)) into.fault ??= 'header_character'
      return
    default:
      if (isRepeated) into.fault ??= 'duplicate_header'
      else if (meaning === 'single') allowHeader(into, name, value, false)
      else if (meaning === 'length') scanContentLength(into, value)
      else if (meaning === 'trace' && traceparentPattern.test(value)) into.allowed.push(name, clearSampledFlag(value))
  }
}

/** Anonymous callers must not choose which traces are sampled: only the ids are forwarded. */
const clearSampledFlag = (value: string) => `${value.slice(0, -2)}00`

function scanContentLength(into: HeaderScan, value: string): void {
  if (!/^\d{1,15}$/.test(value)) into.fault ??= 'framing'
  into.hasBody ||= !/^0+$/.test(value)
}

function allowHeader(into: HeaderScan, name: string, value: string, isRepeated: boolean): void {
  if (unprintablePattern.test(value)) into.fault ??= 'header_character'
  if (isRepeated) {
    const at = into.allowed.indexOf(name) + 1
    into.allowed[at] = `${into.allowed[at]}, ${value}`
  } else into.allowed.push(name, value)
}

/**
 * Removes the headers that Connection names, which were meant for this hop (RFC 9110 section 7.6.1), except those
 * that the proxy itself evaluates.
 */
function removeConnectionHeaders(into: HeaderScan): void {
  const hopHeaders = new Set(into.connection.split(',').map((name) => name.trim().toLowerCase()))
  into.allowed = into.allowed.filter((_, at) => !hopHeaders.has(into.allowed[at - (at % 2)] as string))
  if (hopHeaders.has('accept-encoding')) into.accept_encoding = ''
}

/**
 * The head of the request to the upstream, flat: its Host, the service token as bearer, the source as the only
 * X-Forwarded-For, then the headers of the decision. The upstream client adds Content-Length.
 */
export function buildUpstreamHeaders(
  headers: readonly string[],
  host: string,
  from: RequestSource,
  token: string,
): string[] {
  return ['host', host, 'authorization', `Bearer ${token}`, 'x-forwarded-for', from.address, ...headers]
}
