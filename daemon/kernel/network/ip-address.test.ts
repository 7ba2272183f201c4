// What an address is, and in how many ways it may be written.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formatIp, isIpv4, isWithin, networkOf, parseIp, parseNetwork } from './ip-address.ts'

const textOf = (text: string) => {
  const address = parseIp(text)
  return address && formatIp(address)
}

describe('the text of an address', () => {
  // RFC 5952 section 4, and RFC 4291 section 2.2.
  test.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::FFFF:c000:0201', '192.0.2.1'],
    ['2001:0DB8:0:0:0:0:0:1', '2001:db8::1'],
    ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
    ['2001:0:0:1:0:0:0:1', '2001:0:0:1::1'],
    ['2001:db8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
    ['::', '::'],
    ['::1', '::1'],
    ['1::', '1::'],
    ['64:ff9b::10.0.0.1', '64:ff9b::a00:1'],
    // IPv4-compatible (RFC 4291 section 2.5.5.1), not IPv4-mapped.
    ['::192.0.2.1', '::c000:201'],
  ])('%s is %s', (written, canonical) => {
    expect(textOf(written)).toBe(canonical)
  })

  test.each([
    ...[
      '',
      '1',
      '1.2.3',
      '1.2.3.4.5',
      '1.2.3.256',
      '01.2.3.4',
      '1.2.3.004',
      '0x7f.1.1.1',
      '1.2.3.4 ',
      '1..2.3',
      '1.2.3.',
    ],
    ...[
      ':',
      ':::',
      '1:2:3:4:5:6:7',
      '1:2:3:4:5:6:7:8:9',
      '1::2::3',
      '1:2:3:4:5:6:7::8',
      'fe80::1%eth0',
      '[::1]',
      '12345::',
    ],
    ...['1.2.3.4::', '::1.2.3.4:5', ':1:2:3:4:5:6:7', '1:2:3:4:5:6:7:', '::g', '::1.2.3.04'],
  ])('%j is no address', (text) => {
    expect(parseIp(text)).toBeUndefined()
  })

  test('is one for each address, whatever its value', () => {
    const values = fc.record({ family: fc.constantFrom(4 as const, 6 as const), value: fc.bigInt(0n, 2n ** 128n - 1n) })
    fc.assert(
      fc.property(values, ({ family, value }) => {
        const address = { family, value: family === 4 ? value & 0xffff_ffffn : value }
        expect(formatIp(parseIp(formatIp(address)) ?? address)).toBe(formatIp(address))
        expect(parseIp(formatIp(address))?.value).toBe(address.value)
      }),
    )
  })

  test('of IPv4 is found by the quick look and by a pattern alike', () => {
    const part = '(0|[1-9]\\d?|1\\d\\d|2[0-4]\\d|25[0-5])'
    const pattern = new RegExp(`^${part}(\\.${part}){3}$`)
    const texts = fc.array(fc.constantFrom('0', '1', '25', '255', '256', '.', '.', '.', 'a', ' '), { maxLength: 9 })
    fc.assert(fc.property(texts, (parts) => isIpv4(parts.join('')) === pattern.test(parts.join(''))))
  })
})

describe('a network', () => {
  test.each(['10.0.0.0/8', '192.0.2.1', '0.0.0.0/0', '2001:db8::/32', '::/0', '::1/128'])('%s is one', (text) => {
    expect(parseNetwork(text)).toBeDefined()
  })

  test.each([
    '10.0.0.1/8',
    '10.0.0.0/33',
    '10.0.0.0/08',
    '10.0.0.0/',
    '10/8',
    '::1/64',
    '::ffff:10.0.0.0/104',
    'x',
    '/8',
  ])('%s is none', (text) => {
    expect(parseNetwork(text)).toBeUndefined()
  })

  test('holds its own addresses, and no others', () => {
    const within = (text: string, network: string) => {
      const [address, net] = [parseIp(text), parseNetwork(network)]
      return address && net && isWithin(address, net)
    }
    expect(within('10.255.255.255', '10.0.0.0/8')).toBe(true)
    expect(within('11.0.0.0', '10.0.0.0/8')).toBe(false)
    expect(within('::ffff:10.1.1.1', '10.0.0.0/8')).toBe(true)
    expect(within('::a00:1', '10.0.0.0/8')).toBe(false)
    expect(within('2001:db8:ffff::1', '2001:db8::/32')).toBe(true)
  })

  test('of an address is what its first bits make', () => {
    const address = parseIp('2001:db8:1:2:3:4:5:6')
    expect(address && formatIp(networkOf(address, 64))).toBe('2001:db8:1:2::')
  })
})
