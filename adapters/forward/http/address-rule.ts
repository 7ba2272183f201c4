// Which addresses may be dialled: by default those that anybody on the internet may have, and no others.
import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net'

export type AddressRule = {
  /** Why this address (text of IPv4 or IPv6) may not be dialled; undefined when it may. */
  refusal(address: string): string | undefined
}

type Family = 'ipv4' | 'ipv6'

/** IANA IPv4 special-purpose address registry (RFC 6890 and its updates), and multicast (RFC 5771). */
const specialV4: readonly (readonly [network: string, prefix: number, name: string])[] = [
  ['0.0.0.0', 8, 'unspecified'],
  ['10.0.0.0', 8, 'private'],
  ['100.64.0.0', 10, 'shared between a carrier and its customers'],
  ['127.0.0.0', 8, 'loopback'],
  ['169.254.0.0', 16, 'link-local'],
  ['172.16.0.0', 12, 'private'],
  ['192.0.0.0', 24, 'reserved'],
  ['192.0.2.0', 24, 'for documentation'],
  ['192.88.99.0', 24, 'a relay of 6to4'],
  ['192.168.0.0', 16, 'private'],
  ['198.18.0.0', 15, 'for benchmarks'],
  ['198.51.100.0', 24, 'for documentation'],
  ['203.0.113.0', 24, 'for documentation'],
  ['224.0.0.0', 4, 'multicast'],
  ['240.0.0.0', 4, 'reserved'],
]

/**
 * IANA IPv6 special-purpose address registry. Global unicast is 2000::/3 (RFC 4291, section 2.4); what is not in it needs
 * no row but for its name. 6to4, Teredo and NAT64 carry an IPv4 address that may be anything.
 */
const specialV6: readonly (readonly [network: string, prefix: number, name: string])[] = [
  ['::', 128, 'unspecified'],
  ['::1', 128, 'loopback'],
  ['64:ff9b::', 96, 'translated to IPv4'],
  ['64:ff9b:1::', 48, 'translated to IPv4'],
  ['2001::', 23, 'reserved'],
  ['2001:db8::', 32, 'for documentation'],
  ['2002::', 16, '6to4'],
  ['3fff::', 20, 'for documentation'],
  ['fc00::', 7, 'private'],
  ['fe80::', 10, 'link-local'],
  ['ff00::', 8, 'multicast'],
]

const tables = {
  ipv4: specialV4.map(([network, prefix, name]) => ({ name, list: listOf(network, prefix, 'ipv4') })),
  ipv6: specialV6.map(([network, prefix, name]) => ({ name, list: listOf(network, prefix, 'ipv6') })),
}
const globalUnicast = listOf('2000::', 3, 'ipv6')

/** Shorter prefixes than these name no network of anybody's. fc00::/7 is the shortest in use. */
const shortest = { ipv4: 8, ipv6: 7 }

/**
 * @param trusted networks as `10.1.0.0/16` or `fd00:12::/32`, or single addresses: these may be dialled whatever they are.
 * @throws Error that names the entry, where one is no network, has bits beyond its prefix, or trusts nearly everything.
 */
export function addressRule(trusted: readonly string[]): AddressRule {
  const list = new BlockList()
  for (const entry of trusted) trust(list, entry)
  return {
    refusal(address) {
      const plain = plainAddress(address)
      const family = familyOf(plain)
      if (!family) return `${JSON.stringify(address)} is no address`
      if (list.check(plain, family)) return undefined
      const special = tables[family].find((row) => row.list.check(plain, family))
      if (special) return `${address} is ${special.name}`
      if (family === 'ipv6' && !globalUnicast.check(plain, family)) return `${address} is not global`
      return undefined
    },
  }
}

function trust(list: BlockList, entry: string): void {
  const slash = entry.indexOf('/')
  const network = slash < 0 ? entry : entry.slice(0, slash)
  const family = familyOf(network)
  if (!family || network.includes('%')) throw new Error(`${JSON.stringify(entry)} is no network such as 10.1.0.0/16`)
  const bits = family === 'ipv4' ? 32 : 128
  const length = slash < 0 ? String(bits) : entry.slice(slash + 1)
  const prefix = /^\d{1,3}$/.test(length) ? Number(length) : Number.NaN
  if (!(prefix <= bits)) throw new Error(`${JSON.stringify(entry)} has no prefix length from 0 to ${bits}`)
  if (prefix < shortest[family])
    throw new Error(`${JSON.stringify(entry)} is too wide to be trusted: name exact networks`)
  if (prefix < bits && !isFirst(network, prefix, family)) {
    throw new Error(`${JSON.stringify(entry)} has bits beyond its prefix: write the first address of the network`)
  }
  list.addSubnet(network, prefix, family)
}

/** No address of the network comes before it. */
function isFirst(network: string, prefix: number, family: Family): boolean {
  const bytes = bytesOf(network, family)
  return bytes.every((byte, index) => {
    const kept = Math.min(8, Math.max(0, prefix - index * 8))
    return (byte & (0xff >> kept)) === 0
  })
}

/** 4 or 16 bytes, of a text that is an address of that family without a zone. */
function bytesOf(address: string, family: Family): readonly number[] {
  if (family === 'ipv4') return address.split('.').map(Number)
  // The parser of URLs writes any form as eight groups at most, in hexadecimal, with `::` at most once.
  const [before = '', after] = new URL(`http://[${address}]/`).hostname.slice(1, -1).split('::')
  const head = before === '' ? [] : before.split(':')
  const tail = after === undefined || after === '' ? [] : after.split(':')
  const groups = [...head, ...Array.from({ length: 8 - head.length - tail.length }, () => '0'), ...tail]
  return groups.flatMap((group) => {
    const value = Number.parseInt(group, 16)
    return [value >> 8, value & 0xff]
  })
}

function listOf(network: string, prefix: number, family: Family): BlockList {
  const list = new BlockList()
  list.addSubnet(network, prefix, family)
  return list
}

function familyOf(address: string): Family | undefined {
  const version = isIP(address)
  return version === 4 ? 'ipv4' : version === 6 ? 'ipv6' : undefined
}

/** Without a zone; IPv4 in IPv6 (`::ffff:10.0.0.1`, in any spelling) as IPv4. Anything else as it is. */
export function plainAddress(address: string): string {
  if (isIPv4(address) || !isIPv6(address)) return address
  const zone = address.indexOf('%')
  const bare = zone < 0 ? address : address.slice(0, zone)
  const bytes = bytesOf(bare, 'ipv6')
  const isMapped = bytes.slice(0, 10).every((byte) => byte === 0) && bytes[10] === 0xff && bytes[11] === 0xff
  return isMapped ? bytes.slice(12).join('.') : bare
}
