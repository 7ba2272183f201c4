// Headers of a request: only those on a fixed list are forwarded to the upstream.
import type { RequestSource } from './source.ts'

/** The result of one pass over the headers of a request. All lists hold names and values in turn. */
export type ProxyRequestHeaders = {
  /** For the upstream: names in lower case, once each. Accept-Encoding is apart. */
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
 * What an anonymous caller may say to a backend: how the answer shall look, which part of it, whether it is still fresh, and
 * what the body is. No identity, no cookie, no address, no method or path override, nothing of a hop.
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

/** Whether a header of an answer's Vary can differ between two callers whose requests are otherwise the same. */
export function reachesUpstream(name: string): boolean {
  const meaning = headerHandlings[name]
  // Of Accept-Encoding the upstream sees one value wherever answers are kept.
  return meaning === 'single' || meaning === 'list' || meaning === 'trace' || meaning === 'source'
}

type KnownHeader = { readonly name: string; readonly meaning: HeaderHandling; readonly bit: number }

/** By the ways that names are written in most often, so that few need to be put in lower case. */
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

/** One pass over the raw headers as the parser gives them: name, value, name, value. */
export function readRequestHeaders(raw: readonly string[]): ProxyRequestHeaders {
  const into: HeaderScan = {
    allowed: [],
    accept_encoding: '',
    forwarded_for: '',
    hasBody: false,
    fault: undefined,
    seen: 0,
    hop: '',
  }
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const written = raw[at] as string
    const found =
      knownHeaders.get(written) ??
      (written.length <= max_name_characters ? knownHeaders.get(written.toLowerCase()) : undefined)
    if (found) scanHeader(into, found, raw[at + 1] as string)
  }
  if (into.hop !== '') removeConnectionHeaders(into)
  if ((into.seen & conflictingLengthBits) === conflictingLengthBits) into.fault ??= 'framing'
  return into
}

type HeaderScan = { -readonly [K in keyof ProxyRequestHeaders]: ProxyRequestHeaders[K] } & {
  allowed: string[]
  /** Bits of the names seen so far. */
  seen: number
  /** What Connection says, where it says more than how long it lasts. */
  hop: string
}

function scanHeader(into: HeaderScan, { name, meaning, bit }: KnownHeader, value: string): void {
  const isRepeated = (into.seen & bit) !== 0
  into.seen |= bit
  switch (meaning) {
    case 'source':
      into.forwarded_for = isRepeated ? `${into.forwarded_for},${value}` : value
      return
    case 'connection':
      if (value !== 'keep-alive' && value !== 'close') into.hop += `,${value}`
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

/** What Connection names was meant for this hop (RFC 9110 section 7.6.1). It names nothing away that the proxy goes by. */
function removeConnectionHeaders(into: HeaderScan): void {
  const named = new Set(into.hop.split(',').map((name) => name.trim().toLowerCase()))
  into.allowed = into.allowed.filter((_, at) => !named.has(into.allowed[at - (at % 2)] as string))
  if (named.has('accept-encoding')) into.accept_encoding = ''
}

/**
 * The head of the request to the upstream, flat: its Host, the service token as bearer, the source as the only
 * X-Forwarded-For, then the headers of the decision. The upstream client adds Content-Length.
 */
export function buildUpstreamHeaders(
  kept: readonly string[],
  host: string,
  from: RequestSource,
  token: string,
): string[] {
  return ['host', host, 'authorization', `Bearer ${token}`, 'x-forwarded-for', from.address, ...kept]
}
