// Headers of a response for the caller: without topology and session headers, and with the proxy's own CORS headers.

/**
 * Headers that are never relayed, besides those of one connection: those that reveal internals; sessions and challenges,
 * which would belong to the service token on a host that also serves users with tokens; those that apply to the whole host
 * or to the servers before the proxy; and those that the proxy sets itself.
 */
const droppedHeaders = new Set([
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

/** Names in nearly every response, accepted without a closer check. */
const commonHeaders = new Set(['content-type', 'date', 'etag', 'cache-control', 'last-modified', 'vary'])

/**
 * Headers of the upstream's response for the caller, alternating lower-case names and values. The listener sets
 * Content-Length and all other framing.
 * @param headers those of the upstream without the headers of its connection, as `removeHopHeaders` returns them; changed.
 */
export function cleanResponseHeaders(headers: string[], cors_origin: string): string[] {
  let kept = 0
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const name = headers[at] as string
    if (!commonHeaders.has(name) && !isRelayed(name)) continue
    headers[kept] = name
    headers[kept + 1] = headers[at + 1] as string
    kept += 2
  }
  headers.length = kept
  headers.push(...buildOwnHeaders(cors_origin))
  return headers
}

function isRelayed(name: string): boolean {
  return !droppedHeaders.has(name) && !droppedPrefixes.some((prefix) => name.startsWith(prefix))
}
