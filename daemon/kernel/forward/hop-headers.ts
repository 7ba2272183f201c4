// Headers of one connection, which a forwarder removes in both directions.

/**
 * RFC 9110, section 7.6.1, and those that the forwarder sets itself: the length of the body and the expectation of `100 Continue`.
 * Trailers are dropped in both directions, and so is their announcement.
 */
const hopHeaders: ReadonlySet<string> = new Set([
  ...['connection', 'content-length', 'expect', 'http2-settings', 'keep-alive', 'proxy-authenticate'],
  ...['proxy-authorization', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade'],
])

/**
 * @param raw alternating names and values.
 * @returns those for the next hop, names in lower case: without the headers above and those that `Connection` names.
 */
export function removeHopHeaders(raw: readonly string[]): string[] {
  const kept: string[] = []
  let connection = ''
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = (raw[at] as string).toLowerCase()
    if (name === 'connection') connection += `,${raw[at + 1]}`
    else if (!hopHeaders.has(name)) kept.push(name, raw[at + 1] as string)
  }
  if (connection === '') return kept
  const named = new Set(connection.split(',').map((name) => name.trim().toLowerCase()))
  return kept.filter((_, at) => !named.has(kept[at - (at % 2)] as string))
}
