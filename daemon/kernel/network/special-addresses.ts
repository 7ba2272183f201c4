// The special-purpose address registries, and the networks that a site may name as its own: one table for all.
import { type IpAddress, type IpNetwork, isWithin, parseNetwork } from './ip-address.ts'

/**
 * What an address is for when it is none that anybody on the internet may have; undefined when it is. IPv6 that carries an
 * IPv4 address (6to4, NAT64, Teredo, IPv4-compatible) is none: the IPv4 address may be anything. An IPv4-mapped one is the
 * IPv4 address for `parseIp` already.
 *
 * Sources: IANA IPv4 and IPv6 special-purpose address registries (RFC 6890, RFC 8190), every block of which is not
 * globally reachable; multicast (RFC 5771, RFC 4291 section 2.7); and for IPv6 all but global unicast (RFC 4291 section
 * 2.4). 192.0.0.0/24 and 2001::/23 are whole, though a few anycast addresses of protocols in them are reachable.
 */
export function specialUse(address: IpAddress): string | undefined {
  const special = specialNetworks.find(([, network]) => isWithin(address, network))
  if (special) return special[0]
  return address.family === 4 || isWithin(address, globalUnicast) ? undefined : 'reserved'
}

/**
 * A private network that a site may name as trusted; undefined when the text is no network, or one of fewer than 8 bits,
 * which is nobody's own.
 */
export function parseTrustedNetwork(text: string): IpNetwork | undefined {
  const network = parseNetwork(text)
  return network && network.prefix >= 8 ? network : undefined
}

const requireNetwork = (text: string): IpNetwork => {
  const network = parseNetwork(text)
  if (!network) throw new Error(`${text} is no network`)
  return network
}

const globalUnicast = requireNetwork('2000::/3')

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
