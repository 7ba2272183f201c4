// Headers of a request for the service that owns its path: what clients could claim about themselves is replaced.
import { formatIp, parseIp } from '../../kernel/network/ip-address.ts'
import { countedSource } from '../../kernel/network/special-addresses.ts'

/** What this hop itself knows of a client. */
export type ForwardClient = {
  /** Remote address of the connection, '' where it is closed already. */
  readonly peer: string
  readonly scheme: 'http' | 'https'
  readonly host: string
  /** DER of a client certificate that the handshake has verified. */
  readonly certificate: Uint8Array | undefined
}

/**
 * Names that a service may believe because only its front door sets them, and names that replace path or host of a request:
 * forwarding (RFC 7239 and before it), client certificates (RFC 9440 and before it), rewritten targets, CVE-2016-5385.
 */
const claimPattern =
  /^(x-forwarded(-.*)?|forwarded|x-real-ip|true-client-ip|x-client-ip|x-cluster-client-ip|client-cert(-chain)?|x-client-cert.*|x-ssl-.*|ssl-client-.*|x-original-(url|uri|host|method)|x-rewrite-url|proxy)$/

/** Servers that turn names into variables read `_` as `-`. */
const isClaim = (name: string): boolean => claimPattern.test(name.includes('_') ? name.replaceAll('_', '-') : name)

/** @param headers names in lower case, without those of the connection; `host` stays as the client sent it. */
export function buildOwnerHeaders(
  headers: readonly string[],
  { peer, scheme, host, certificate }: ForwardClient,
  trusted_depth: number,
): string[] {
  const kept: string[] = []
  const forwarded: string[] = []
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const [name, value] = [headers[at] as string, headers[at + 1] as string]
    if (!isClaim(name)) kept.push(name, value)
    else if (name === 'x-forwarded-for') forwarded.push(value)
  }
  const trusted = listTrustedEntries(forwarded.join(','), trusted_depth)
  kept.push('x-forwarded-for', [...trusted, formatPeer(peer)].join(', '))
  kept.push('x-forwarded-proto', scheme, 'x-forwarded-host', host)
  if (certificate) kept.push('client-cert', `:${Buffer.from(certificate).toString('base64')}:`)
  return kept
}

/** The address for which a request is counted: the first that a trusted hop saw, or the peer. */
export function findSource(rawHeaders: readonly string[], peer: string, trusted_depth: number): string {
  if (trusted_depth === 0) return countedSource(peer)
  const forwarded = rawHeaders.filter(
    (_, at) => at % 2 === 1 && /^x-forwarded-for$/i.test(rawHeaders[at - 1] as string),
  )
  const entries = listTrustedEntries(forwarded.join(','), trusted_depth)
  const [entry = ''] = entries.length === trusted_depth ? entries : []
  return countedSource(parseIp(entry) ? entry : peer)
}

/** The last entries, of which each trusted hop has appended one. */
function listTrustedEntries(list: string, depth: number): string[] {
  if (depth === 0 || list.trim() === '') return []
  return list
    .split(',')
    .slice(-depth)
    .map((entry) => entry.trim())
}

function formatPeer(peer: string): string {
  const address = parseIp(peer.split('%', 1)[0] ?? '')
  return address ? formatIp(address) : 'unknown'
}

/** The value of a field that occurs exactly once. */
export function readField(rawHeaders: readonly string[], name: string): string | undefined {
  const values = rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === name)
  return values.length === 1 ? values[0] : undefined
}
