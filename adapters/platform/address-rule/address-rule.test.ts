// Allowed addresses: no spelling or embedding of an address bypasses the rule.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { addressRule } from './address-rule.ts'

const untrustingRule = addressRule([])

describe('without trusted networks', () => {
  // The ranges of the interface document, and of the IANA registries of special-purpose addresses: first and last of each.
  test.each([
    ['0.0.0.0', '0.255.255.255'],
    ['10.0.0.0', '10.255.255.255'],
    ['100.64.0.0', '100.127.255.255'],
    ['127.0.0.0', '127.255.255.255'],
    ['169.254.0.0', '169.254.169.254'],
    ['172.16.0.0', '172.31.255.255'],
    ['192.0.0.0', '192.0.0.255'],
    ['192.0.2.0', '192.0.2.255'],
    ['192.168.0.0', '192.168.255.255'],
    ['198.18.0.0', '198.19.255.255'],
    ['198.51.100.0', '198.51.100.255'],
    ['203.0.113.0', '203.0.113.255'],
    ['224.0.0.0', '239.255.255.255'],
    ['240.0.0.0', '255.255.255.255'],
    ['::', '::1'],
    ['64:ff9b::', '64:ff9b::808:808'],
    ['64:ff9b:1::', '64:ff9b:1:ffff:ffff:ffff:ffff:ffff'],
    ['100::', '100::ffff'],
    ['2001::', '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['2002::', '2002:808:808::1'],
    ['3fff::', '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['4000::', '5f00::1'],
    ['fc00::', 'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['fe80::', 'febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['fec0::', 'feff::1'],
    ['ff00::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['::8.8.8.8', '::a00:1'],
  ])('%s to %s may not be dialled', (first, last) => {
    expect(untrustingRule.refusal(first)).toContain(first)
    expect(untrustingRule.refusal(last)).toContain(last)
  })

  test.each([
    '1.0.0.0',
    '9.255.255.255',
    '11.0.0.0',
    '100.63.255.255',
    '100.128.0.0',
    '126.255.255.255',
    '128.0.0.0',
    '172.15.255.255',
    '172.32.0.0',
    '192.167.255.255',
    '192.169.0.0',
    '223.255.255.255',
    '2001:200::1',
    '2606:4700:4700::1111',
    '3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
  ])('%s may be dialled', (address) => {
    expect(untrustingRule.refusal(address)).toBeUndefined()
  })

  test.each(['127.1', '0x7f.0.0.1', '2130706433', '0177.0.0.1', 'localhost', '', '127.0.0.1 ', '[::1]', '10.0.0.1/8'])(
    'a text that is not an address is refused: %s',
    (text) => {
      expect(untrustingRule.refusal(text)).toContain('not an IP address')
    },
  )

  test('the refusal names the kind of address', () => {
    expect(untrustingRule.refusal('169.254.169.254')).toBe('169.254.169.254 is link-local')
    expect(untrustingRule.refusal('fe80::1%eth0')).toBe('fe80::1%eth0 is link-local')
  })
})

const v4 = fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255), fc.nat(255)).map((bytes) => bytes.join('.'))

describe('IPv4 in IPv6', () => {
  test('follows the rule for IPv4, in each spelling', () => {
    fc.assert(
      fc.property(v4, (address) => {
        const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number)
        const groups = [(a << 8) | b, (c << 8) | d].map((group) => group.toString(16))
        const spellings = [
          `::ffff:${address}`,
          `::FFFF:${address}`,
          `0:0:0:0:0:ffff:${address}`,
          `::ffff:${groups.join(':')}`,
          `0000:0000:0000:0000:0000:ffff:${groups.map((group) => group.padStart(4, '0')).join(':')}`,
        ]
        for (const spelling of spellings) {
          expect(untrustingRule.refusal(spelling) === undefined).toBe(untrustingRule.refusal(address) === undefined)
        }
      }),
    )
  })

  test('is trusted like its IPv4 address', () => {
    const rule = addressRule(['10.1.0.0/16'])
    expect(rule.refusal('::ffff:10.1.2.3')).toBeUndefined()
    expect(rule.refusal('::ffff:10.2.2.3')).toContain('private')
  })
})

describe('trusted networks', () => {
  const rule = addressRule(['10.1.0.0/16', '127.0.0.1', 'fd00:12::/32', '::1/128'])

  test('are dialled, and adjacent addresses are not', () => {
    for (const address of ['10.1.0.0', '10.1.255.255', '127.0.0.1', 'fd00:12:ffff::1', '::1']) {
      expect(rule.refusal(address)).toBeUndefined()
    }
    for (const address of ['10.0.255.255', '10.2.0.0', '127.0.0.2', 'fd00:13::1', '::', '192.168.0.1']) {
      expect(rule.refusal(address)).toBeDefined()
    }
  })

  test('do not exclude public addresses', () => {
    expect(rule.refusal('8.8.8.8')).toBeUndefined()
  })

  test.each([
    ...['10.1.2.0/16', 'fd00:12::1/32', '0.0.0.0/0', '::/0', '10.0.0.0/7', '10.0.0.0/33', '10.0.0.0/', '10.0.0.0/-1'],
    ...['10.0.0.0/8/8', '10.0.0.0/0x8', 'fe80::%eth0/64', 'backend.example', '10.0.0', ''],
  ])('%j is refused', (entry) => {
    expect(() => addressRule([entry])).toThrow(JSON.stringify(entry))
  })

  test('a network contains exactly the addresses with its prefix', () => {
    fc.assert(
      fc.property(fc.nat(0xffffffff), fc.nat(0xffffffff), fc.integer({ min: 8, max: 32 }), (a, b, prefix) => {
        const mask = prefix === 32 ? 0xffffffff : ~(0xffffffff >>> prefix) >>> 0
        const base = (a & mask) >>> 0
        const one = addressRule([`${formatIpv4(base)}/${prefix}`])
        const isIn = (b & mask) >>> 0 === base
        const isOpen = untrustingRule.refusal(formatIpv4(b)) === undefined
        expect(one.refusal(formatIpv4(b)) === undefined).toBe(isIn || isOpen)
        expect(one.refusal(formatIpv4(base))).toBeUndefined()
      }),
    )
  })
})

const formatIpv4 = (value: number) => [24, 16, 8, 0].map((shift) => (value >>> shift) & 0xff).join('.')
