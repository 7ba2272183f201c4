// Headers of an answer on its way to the caller: without hops, topology and sessions, and with the proxy's own CORS.

/**
 * Never relayed, and why. What belongs to one connection (RFC 9110 section 7.6.1). What tells of the inside. Sessions and
 * challenges: they would be those of the service token, on a host that serves people who have tokens of their own. What
 * speaks for the whole host, or to the servers before the proxy. What the proxy says itself.
 */
const droppedHeaders = new Set([
  ...[
    'connection',
    'content-length',
    'keep-alive',
    'proxy-connection',
    'te',
    'trailer',
    'transfer-encoding',
    'upgrade',
    'http2-settings',
  ],
  ...['server', 'x-powered-by', 'via'],
  ...['set-cookie', 'set-cookie2', 'www-authenticate', 'authentication-info'],
  ...['alt-svc', 'clear-site-data', 'service-worker-allowed', 'strict-transport-security', 'x-sendfile'],
  ...['nel', 'report-to', 'reporting-endpoints', 'accept-ch', 'critical-ch'],
  ...['x-content-type-options'],
])

const droppedPrefixes = ['x-internal-', 'x-forwarded-', 'x-accel-', 'x-envoy-', 'proxy-', 'access-control-']

/** On every answer, flat. Pages of other origins may read what tells them when to ask again. */
export function buildOwnHeaders(cors_origin: string): string[] {
  return [
    ...['access-control-allow-origin', cors_origin],
    ...['access-control-expose-headers', 'Age, ETag, Retry-After', 'x-content-type-options', 'nosniff'],
  ]
}
const own_header_items = buildOwnHeaders('').length

/** Names that come in nearly every answer, so that they are not looked at letter by letter. */
const commonHeaders = new Set(['content-type', 'date', 'etag', 'cache-control', 'last-modified', 'vary'])

/**
 * Headers of the upstream's answer, flat, cleaned for the caller; names in lower case. The listener sets Content-Length from the
 * answer, as all framing is.
 */
export function cleanResponseHeaders(raw: readonly string[], cors_origin: string): string[] {
  const cleaned: string[] = []
  let hop = ''
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = (raw[at] as string).toLowerCase()
    const value = raw[at + 1] as string
    if (name === 'connection') hop += `,${value}`
    else if (commonHeaders.has(name) || isRelayed(name)) cleaned.push(name, value)
  }
  cleaned.push(...buildOwnHeaders(cors_origin))
  return hop === '' ? cleaned : removeConnectionHeaders(cleaned, hop)
}

function isRelayed(name: string): boolean {
  return !droppedHeaders.has(name) && !droppedPrefixes.some((prefix) => name.startsWith(prefix))
}

/** The proxy's own headers are not Connection's to take away. */
function removeConnectionHeaders(headers: readonly string[], hop: string): string[] {
  const named = new Set(hop.split(',').map((name) => name.trim().toLowerCase()))
  const own = headers.length - own_header_items
  return headers.filter((_, at) => at >= own || !named.has(headers[at - (at % 2)] as string))
}
