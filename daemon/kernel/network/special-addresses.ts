// The special-purpose address registries, and the networks that a site may declare as its own, in one table.
import { formatIp, type IpAddress, type IpNetwork, isWithin, networkOf, parseIp, parseNetwork } from './ip-address.ts'

/**
 * The special use of an address; undefined for a public address. IPv6 that carries an IPv4 address (6to4, NAT64,
 * Teredo, IPv4-compatible) is special, since the IPv4 address may be any. `parseIp` has already turned an IPv4-mapped
 * address into the IPv4 address.
 *
 * Sources: IANA IPv4 and IPv6 special-purpose address registries (RFC 6890, RFC 8190), every block of which is not
 * globally reachable; multicast (RFC 5771, RFC 4291 section 2.7); and for IPv6 all but global unicast (RFC 4291
 * section 2.4). 192.0.0.0/24 and 2001::/23 are refused as a whole, although a few anycast addresses in them are
 * reachable.
 */
export function specialUse(address: IpAddress): string | undefined {
  const special = specialNetworks.find(([, network]) => isWithin(address, network))
  if (special) return special[0]
  return address.family === 4 || isWithin(address, globalUnicast) ? undefined : 'reserved'
}

/**
 * Parses a private network that a site may trust; undefined for other text, and for a prefix below 8 bits, which no
 * private network has.
 */
export function parseTrustedNetwork(text: string): IpNetwork | undefined {
  const network = parseNetwork(text)
  return network && network.prefix >= 8 ? network : undefined
}

const requireNetwork = (text: string): IpNetwork => {
  const network = parseNetwork(text)
  if (!network) throw new Error(`${text} is not a network`)
  return network
}

/**
 * The network for which an address is counted where requests are limited: an IPv4 address alone, an IPv6 address with its
 * network. IPv6 that carries an IPv4 address counts as that address: whoever has one IPv4 address has 2^80 addresses of
 * 6to4 (RFC 3056), and any number behind NAT64 or as a Teredo client.
 */
export function countedNetwork(address: IpAddress, ipv6_prefix: number): string {
  const counted = carriedIpv4(address) ?? address
  return counted.family === 4 ? formatIp(counted) : `${formatIp(networkOf(counted, ipv6_prefix))}/${ipv6_prefix}`
}

/** Whoever has an IPv6 address has this network. */
const listener_ipv6_prefix = 64

/** The network that a connection is counted for, by the text of its address; a text that is no address stays as it is. */
export function countedSource(address: string): string {
  const parsed = parseIp(address.split('%', 1)[0] ?? '')
  return parsed ? countedNetwork(parsed, listener_ipv6_prefix) : address
}

function carriedIpv4(address: IpAddress): IpAddress | undefined {
  const carrier = carriers.find(({ network }) => isWithin(address, network))
  if (!carrier) return undefined
  const bits = (address.value >> BigInt(carrier.bits_after)) & 0xffff_ffffn
  return { family: 4, value: carrier.isInverted ? bits ^ 0xffff_ffffn : bits }
}

const globalUnicast = requireNetwork('2000::/3')

/** `bits_after`: bits behind the IPv4 address. */
const carriers: readonly { network: IpNetwork; bits_after: number; isInverted?: true }[] = [
  // 6to4 (RFC 3056 section 2): between the prefix and the network of the site.
  { network: requireNetwork('2002::/16'), bits_after: 80 },
  // NAT64: the well-known prefix (RFC 6052 section 2.1), and those of local use (RFC 8215), of which sites use /96 networks.
  { network: requireNetwork('64:ff9b::/96'), bits_after: 0 },
  { network: requireNetwork('64:ff9b:1::/48'), bits_after: 0 },
  // Teredo (RFC 4380 section 4): the client's address, each bit inverted.
  { network: requireNetwork('2001::/32'), bits_after: 0, isInverted: true },
]

const specialNetworks = Object.entries({
  loopback: ['127.0.0.0/8', '::1'],
  private: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
  'link-local': ['169.254.0.0/16', 'fe80::/10'],
  unspecified: ['0.0.0.0/8', '::'],
  'shared between a carrier and its customers': ['100.64.0.0/10'],
  multicast: ['224.0.0.0/4', 'ff00::/8'],
  'for benchmarks': ['198.18.0.0/15'],
  'for documentation': ['192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24', '2001:db8::/32', '3fff::/20'],
  'translated to IPv4': ['64:ff9b::/96', '64:ff9b:1::/48', '2001::/32', '2002::/16', '192.88.99.0/24'],
  reserved: ['192.0.0.0/24', '240.0.0.0/4', '2001::/23'],
}).flatMap(([use, networks]) => networks.map((text) => [use, requireNetwork(text)] as const))
