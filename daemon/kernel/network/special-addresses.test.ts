// The special-purpose address registries, row by row.
import { describe, expect, test } from 'vitest'
import { type IpNetwork, parseIp, parseNetwork } from './ip-address.ts'
import { parseTrustedNetwork, specialUse } from './special-addresses.ts'

const useOf = (text: string) => {
  const address = parseIp(text)
  return address ? specialUse(address) : 'no address'
}

/** The first and last address of a network, and their neighbours outside. */
function edgesOf({ family, value, prefix }: IpNetwork) {
  const size = 1n << BigInt((family === 4 ? 32 : 128) - prefix)
  return [value, value + size - 1n].map((each) => ({ family, value: each }))
}

// IANA IPv4 and IPv6 special-purpose address registries as of 2025-10: blocks that are not globally reachable, or
// undetermined (6to4, Teredo); and NAT64, which carries IPv4 addresses.
const unreachable = [
  ...['0.0.0.0/8', '0.0.0.0/32', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12'],
  ...['192.0.0.0/24', '192.0.0.0/29', '192.0.0.8/32', '192.0.0.170/32', '192.0.0.171/32', '192.0.2.0/24'],
  ...['192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24', '240.0.0.0/4'],
  ...['255.255.255.255/32', '::1/128', '::/128', '64:ff9b::/96', '64:ff9b:1::/48', '100::/64', '100:0:0:1::/64'],
  ...['2001::/23', '2001::/32', '2001:2::/48', '2001:10::/28', '2001:db8::/32', '2002::/16', '3fff::/20'],
  ...['5f00::/16', 'fc00::/7', 'fe80::/10'],
]
/** Blocks of the registries that are globally reachable: AS112 and AMT. */
const reachable = ['192.31.196.0/24', '192.52.193.0/24', '192.175.48.0/24', '2620:4f:8000::/48']
/** Anycast addresses of protocols within blocks that are refused as a whole. */
const refusedAnycast = [
  ...['192.0.0.9/32', '192.0.0.10/32', '2001:1::1/128', '2001:1::2/128', '2001:1::3/128', '2001:3::/32'],
  ...['2001:4:112::/48', '2001:20::/28', '2001:30::/28'],
]

describe('the registries', () => {
  test.each([...unreachable, ...refusedAnycast])('%s is special from its first address to its last', (text) => {
    const network = parseNetwork(text)
    expect(network && edgesOf(network).map(specialUse)).toEqual([expect.any(String), expect.any(String)])
  })

  test.each(reachable)('%s is open', (text) => {
    const network = parseNetwork(text)
    expect(network && edgesOf(network).map(specialUse)).toEqual([undefined, undefined])
  })
})

describe('a network that a site trusts', () => {
  test.each(['10.1.0.0/16', '10.0.0.0/8', '127.0.0.1', 'fd00::/8', 'fd00:12::/32', '::1'])('may be %s', (text) => {
    expect(parseTrustedNetwork(text)).toEqual(parseNetwork(text))
  })

  test.each(['0.0.0.0/0', '10.0.0.0/7', '::/0', 'fc00::/7', '10.1.2.0/16', 'backend.example', ''])('not %j', (text) => {
    expect(parseTrustedNetwork(text)).toBeUndefined()
  })
})

describe('a special use', () => {
  test.each(['8.8.8.8', '1.1.1.1', '172.32.0.1', '100.128.0.1', '11.0.0.0', '2606:4700::1', '2a00::1', '3ffe::1'])(
    'is refused for %s',
    (text) => {
      expect(useOf(text)).toBeUndefined()
    },
  )

  test.each([
    ['127.0.0.1', 'loopback'],
    ['::1', 'loopback'],
    ['::ffff:127.0.0.1', 'loopback'],
    ['10.0.0.1', 'private'],
    ['172.16.0.1', 'private'],
    ['172.31.255.255', 'private'],
    ['192.168.1.1', 'private'],
    ['::ffff:a00:1', 'private'],
    ['fc00::1', 'private'],
    ['fdff::1', 'private'],
    ['169.254.169.254', 'link-local'],
    ['fe80::1', 'link-local'],
    ['0.0.0.0', 'unspecified'],
    ['::', 'unspecified'],
    ['100.64.0.1', 'shared between a carrier and its customers'],
    ['224.0.0.1', 'multicast'],
    ['ff02::1', 'multicast'],
    ['198.18.0.1', 'for benchmarks'],
    ['64:ff9b::10.0.0.1', 'translated to IPv4'],
    ['2002:a00:1::1', 'translated to IPv4'],
    ['255.255.255.255', 'reserved'],
    ['192.0.0.1', 'reserved'],
    ['2001::1', 'translated to IPv4'],
    ['2001:100::1', 'reserved'],
    ['192.0.2.1', 'for documentation'],
    ['2001:db8::1', 'for documentation'],
    ['::7f00:1', 'reserved'],
    ['::ffff:0:127.0.0.1', 'reserved'],
    ['fec0::1', 'reserved'],
    ['100::1', 'reserved'],
    ['4000::1', 'reserved'],
  ])('of %s: %s', (text, use) => {
    expect(useOf(text)).toBe(use)
  })
})
