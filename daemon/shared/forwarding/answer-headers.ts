// Headers of responses for clients.

/** Names of the owner's server, and its offer of another port, which is not that of this listener. */
const ownersHeaders: ReadonlySet<string> = new Set(['server', 'x-powered-by', 'via', 'alt-svc'])
const transport_security = 'strict-transport-security'
const transport_security_value = 'max-age=31536000'

/** @param headers of the owner: names in lower case, without those of its connection. */
export function buildAnswerHeaders(headers: readonly string[], scheme: 'http' | 'https'): string[] {
  const kept = headers.filter((_, at) => !ownersHeaders.has(headers[at - (at % 2)] as string))
  const isSecured = scheme === 'http' || kept.some((name, at) => at % 2 === 0 && name === transport_security)
  return isSecured ? kept : [...kept, transport_security, transport_security_value]
}
