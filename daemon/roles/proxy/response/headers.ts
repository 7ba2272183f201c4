// Headers of an answer on its way to the caller: without hops, topology and sessions, and with the proxy's own CORS.

/**
 * Headers of the upstream's answer, flat, cleaned for the caller: no hop-by-hop ones, none that Connection names, none that
 * tell of the inside, no Set-Cookie or challenge, no CORS but ours. Content-Length stays: framing is the writer's.
 */
export function responseHeaders(raw: readonly string[], cors_origin: string): string[] {
  throw new Error(`not yet ${raw.length} ${cors_origin}`)
}
