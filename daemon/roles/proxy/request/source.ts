// The source of a request, for which it is counted: the client address as the trusted hops before the proxy saw it.
import { formatIp, isIpv4, parseIp } from '../../../kernel/network/ip-address.ts'
import { countedNetwork } from '../../../kernel/network/special-addresses.ts'

/**
 * `address` in canonical text, for the audit record and the upstream. `key` is the key for counting: the address for
 * IPv4, the network for IPv6 (`countedNetwork`), with the prefix `peer:` for the address of the connection.
 */
export type RequestSource = { readonly address: string; readonly key: string; readonly from: 'forwarded' | 'peer' }

/**
 * The source by X-Forwarded-For, all fields of that name joined by commas in their order; '' for none. Each of the `depth`
 * trusted hops appended the address that it saw, so the entry `depth` from the end is the one that a caller cannot choose.
 * Without such an entry, or with one that is not an address, the source is the connection's peer, counted separately from
 * callers of that address: all such requests share one bucket, and a spoofed header cannot open another.
 * An entry may be IPv4, IPv4:port, IPv6 or [IPv6]:port; `peer` is the connection's remote address.
 */
export function identifySource(forwarded: string, peer: string, depth: number, ipv6_prefix: number): RequestSource {
  const entry = entryFromEnd(forwarded, depth)
  const address = entry === '' ? undefined : parseAddress(entry)
  if (address !== undefined) return { address, key: buildSourceKey(address, ipv6_prefix), from: 'forwarded' }
  const peerAddress = parseAddress(peer.split('%', 1)[0] ?? '') ?? 'unknown'
  return { address: peerAddress, key: `peer:${buildSourceKey(peerAddress, ipv6_prefix)}`, from: 'peer' }
}

/** The entry at `depth` from the end, trimmed. Other entries are not parsed. */
function entryFromEnd(list: string, depth: number): string {
  let end = list.length
  for (let hop = 1; ; hop++) {
    const comma = end <= 0 ? -1 : list.lastIndexOf(',', end - 1)
    if (hop === depth) return list.slice(comma + 1, end).trim()
    if (comma < 0) return ''
    end = comma
  }
}

const bracketedPattern = /^\[([0-9a-fA-F:.]*:[0-9a-fA-F:.]*)\](?::\d{1,5})?$/

function parseAddress(entry: string): string | undefined {
  if (isIpv4(entry)) return entry
  if (entry.length > 60) return undefined
  const colon = entry.indexOf(':')
  if (colon > 0 && isIpv4(entry.slice(0, colon)))
    return /^:\d{1,5}$/.test(entry.slice(colon)) ? entry.slice(0, colon) : undefined
  const address = parseIp(bracketedPattern.exec(entry)?.[1] ?? entry)
  return address && formatIp(address)
}

function buildSourceKey(address: string, ipv6_prefix: number): string {
  if (!address.includes(':')) return address
  const parsed = parseIp(address)
  return parsed ? countedNetwork(parsed, ipv6_prefix) : address
}
