// Decides which responses may be cached, for how long, and under which key.
import type { ProxyConfig } from '../config.ts'
import { negotiationHeaders, reachesUpstream } from '../request/headers.ts'
import type { RequestDecision } from '../request/request-decision.ts'

/**
 * The key of a request in the cache: method, normal form, query, and each header by which the upstream may choose an answer,
 * whatever its `Vary` says. GET and HEAD have separate entries.
 */
export function cacheKey(method: string, { path, query, headers }: RequestDecision): string {
  let key = `${method} ${path}${query}`
  for (const name of negotiationHeaders) {
    // No value contains a line break: see `readRequestHeaders`.
    for (let at = 0; at < headers.length; at += 2) if (headers[at] === name) key += `\n${name}: ${headers[at + 1]}`
  }
  return key
}

/**
 * Milliseconds for which a response may be cached, 0 for not at all: the minimum of CACHE_TTL_S, the rule's `cache=`,
 * and the remaining lifetime by the upstream (RFC 9111 section 4.2). Never cached: status other than 2xx, 206,
 * Set-Cookie, `no-store`, `private`, `no-cache`, an encoding that was not requested, and Vary on headers that differ
 * between callers and are not in the key. `raw`: the upstream's headers, alternating names and values; `now`: milliseconds since 1970.
 */
export function computeCacheLifetime(
  { isCacheable, rule }: RequestDecision,
  config: ProxyConfig,
  status: number,
  raw: readonly string[],
  now: number,
): number {
  if (!isCacheable || status < 200 || status > 299 || status === 206) return 0
  const cacheHeaders = readCacheHeaders(raw)
  if (!cacheHeaders) return 0
  const upstream_s = cacheHeaders.shared_s ?? cacheHeaders.age_max_s ?? secondsUntilExpiry(cacheHeaders, now)
  const upstream_ms = upstream_s === undefined ? Number.POSITIVE_INFINITY : (upstream_s - cacheHeaders.age_s) * 1_000
  const rule_ms = (rule?.cache_s ?? Number.POSITIVE_INFINITY) * 1_000
  return Math.max(0, Math.min(config.cache_ttl_ms, rule_ms, upstream_ms))
}

type CacheHeaders = {
  /** The minimum of the given times, in seconds; 0 where one cannot be parsed. */
  shared_s: number | undefined
  age_max_s: number | undefined
  expires: string | undefined
  date: string | undefined
  age_s: number
}

/** Cache directives of the headers; undefined when they forbid caching. */
function readCacheHeaders(raw: readonly string[]): CacheHeaders | undefined {
  const cacheHeaders: CacheHeaders = {
    shared_s: undefined,
    age_max_s: undefined,
    expires: undefined,
    date: undefined,
    age_s: 0,
  }
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const take = headerReaders.get((raw[at] as string).toLowerCase())
    if (take && !take(cacheHeaders, raw[at + 1] as string)) return undefined
  }
  return cacheHeaders
}

/** Readers by header; false forbids caching. */
const headerReaders = new Map(
  Object.entries<(cacheHeaders: CacheHeaders, value: string) => boolean>({
    'set-cookie': () => false,
    'set-cookie2': () => false,
    'content-range': () => false,
    'content-encoding': (_, value) => value.trim().toLowerCase() === 'identity',
    vary: (_, value) => value.split(',').every((field) => isSameForAll(field.trim().toLowerCase())),
    'cache-control': (cacheHeaders, value) =>
      value.split(',').every((directive) => applyDirective(cacheHeaders, directive.trim().toLowerCase())),
    age: (cacheHeaders, value) => {
      cacheHeaders.age_s = Math.max(cacheHeaders.age_s, parseSeconds(value) ?? Number.POSITIVE_INFINITY)
      return true
    },
    expires: (cacheHeaders, value) => {
      cacheHeaders.expires = value
      return true
    },
    date: (cacheHeaders, value) => {
      cacheHeaders.date = value
      return true
    },
  }),
)

function isSameForAll(field: string): boolean {
  return field !== '*' && (negotiationHeaders.includes(field) || !reachesUpstream(field))
}

const forbiddenDirective = /^(?:no-store|no-cache|private)(?:$|=)/

function applyDirective(cacheHeaders: CacheHeaders, directive: string): boolean {
  if (forbiddenDirective.test(directive)) return false
  const [name, value] = directive.split('=', 2)
  if (name === 's-maxage')
    cacheHeaders.shared_s = Math.min(cacheHeaders.shared_s ?? Number.POSITIVE_INFINITY, parseSeconds(value) ?? 0)
  if (name === 'max-age')
    cacheHeaders.age_max_s = Math.min(cacheHeaders.age_max_s ?? Number.POSITIVE_INFINITY, parseSeconds(value) ?? 0)
  return true
}

/** Seconds until Expires. RFC 9111 section 5.3: an unparsable date has passed. */
function secondsUntilExpiry({ expires, date }: CacheHeaders, now: number): number | undefined {
  if (expires === undefined) return undefined
  const until = Date.parse(expires)
  const from = date === undefined ? now : Date.parse(date)
  return Number.isNaN(until) || Number.isNaN(from) ? 0 : (until - from) / 1_000
}

function parseSeconds(text: string | undefined): number | undefined {
  return text !== undefined && /^"?\d{1,10}"?$/.test(text.trim()) ? Number(text.replaceAll('"', '')) : undefined
}
