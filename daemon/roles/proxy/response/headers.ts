// Headers of a response for the caller: without hop, topology and session headers, and with the proxy's own CORS
// headers.
import { hopHeaders } from '../../../kernel/forward/hop-headers.ts'

/**
 * Headers that are never relayed: those of one connection (RFC 9110 section 7.6.1); those that reveal internals;
 * sessions and challenges, which would belong to the service token on a host that also serves users with tokens;
 * those that apply to the whole host or to the servers before the proxy; and those that the proxy sets itself.
 */
const droppedHeaders = new Set([
  ...hopHeaders,
  ...['server', 'x-powered-by', 'via'],
  ...['set-cookie', 'set-cookie2', 'www-authenticate', 'authentication-info'],
  ...['alt-svc', 'clear-site-data', 'service-worker-allowed', 'strict-transport-security', 'x-sendfile'],
  ...['nel', 'report-to', 'reporting-endpoints', 'accept-ch', 'critical-ch'],
  ...['x-content-type-options'],
])

const droppedPrefixes = ['x-internal-', 'x-forwarded-', 'x-accel-', 'x-envoy-', 'proxy-', 'access-control-']

/**
 * Headers of every response, alternating names and values. Pages of other origins may read the ones about caching and
 * retries.
 */
export function buildOwnHeaders(cors_origin: string): string[] {
  return [
    ...['access-control-allow-origin', cors_origin],
    ...['access-control-expose-headers', 'Age, ETag, Retry-After', 'x-content-type-options', 'nosniff'],
  ]
}
const own_header_items = buildOwnHeaders('').length

/** Names in nearly every response, accepted without a closer check. */
const commonHeaders = new Set(['content-type', 'date', 'etag', 'cache-control', 'last-modified', 'vary'])

/**
 * Headers of the upstream's response for the caller, alternating lower-case names and values. The listener sets
 * Content-Length and all other framing.
 */
export function cleanResponseHeaders(raw: readonly string[], cors_origin: string): string[] {
  const cleaned: string[] = []
  let connection = ''
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = (raw[at] as string).toLowerCase()
    const value = raw[at + 1] as string
    if (name === 'connection') connection += `,${value}`
    else if (commonHeaders.has(name) || isRelayed(name)) cleaned.push(name, value)
  }
  cleaned.push(...buildOwnHeaders(cors_origin))
  return connection === '' ? cleaned : removeConnectionHeaders(cleaned, connection)
}

function isRelayed(name: string): boolean {
  return !droppedHeaders.has(name) && !droppedPrefixes.some((prefix) => name.startsWith(prefix))
}

/** Removes the headers that Connection names, except the proxy's own. */
function removeConnectionHeaders(headers: readonly string[], connection: string): string[] {
  const hopHeaders = new Set(connection.split(',').map((name) => name.trim().toLowerCase()))
  const ownStart = headers.length - own_header_items
  return headers.filter((_, at) => at >= ownStart || !hopHeaders.has(headers[at - (at % 2)] as string))
}
