// The source of a request by the trusted hops; callers cannot choose it.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { identifySource } from './source.ts'

const peer = '10.0.0.9'
const sourceFor = (list: string, depth = 1) => identifySource(list, peer, depth, 64)

describe('the source', () => {
  test.each([
    ['203.0.113.7', 1, '203.0.113.7'],
    ['1.1.1.1, 203.0.113.7', 1, '203.0.113.7'],
    ['1.1.1.1,\t203.0.113.7 ', 1, '203.0.113.7'],
    ['9.9.9.9, 203.0.113.7, 10.0.0.1', 2, '203.0.113.7'],
    ['junk, 203.0.113.7', 1, '203.0.113.7'],
    ['203.0.113.7:4711', 1, '203.0.113.7'],
    ['::ffff:203.0.113.7', 1, '203.0.113.7'],
    ['[::ffff:203.0.113.7]:80', 1, '203.0.113.7'],
    ['2001:DB8::1', 1, '2001:db8::1'],
    ['[2001:db8:0::1]:443', 1, '2001:db8::1'],
  ])('of %j at depth %i is %s', (list, depth, address) => {
    expect(sourceFor(list, depth)).toMatchObject({ address, from: 'forwarded' })
  })

  test.each([
    ['', 1],
    ['unknown', 1],
    ['_hidden', 1],
    ['203.0.113.007', 1],
    ['203.0.113.7, ', 1],
    ['203.0.113.7,', 1],
    [',', 1],
    ['203.0.113.7 1.1.1.1', 1],
    ['"203.0.113.7"', 1],
    ['203.0.113.7:', 1],
    ['203.0.113.7:x', 1],
    ['203.0.113.7:123456', 1],
    ['[203.0.113.7]', 1],
    ['fe80::1%eth0', 1],
    ['203.0.113.7', 2],
    ['203.0.113.7', 32],
    ['203.0.113.7, unknown', 1],
    [' '.repeat(9_000), 1],
  ])('of %j at depth %i is the peer, in a separate bucket', (list, depth) => {
    expect(sourceFor(list, depth)).toEqual({ address: peer, key: `peer:${peer}`, from: 'peer' })
  })

  test('is never the leftmost entry unless that is the trusted one', () => {
    const texts = fc.array(fc.stringMatching(/^[^,]{0,20}$/), { maxLength: 5 })
    fc.assert(
      fc.property(texts, fc.ipV4(), (spoofed, clientAddress) => {
        expect(sourceFor([...spoofed, clientAddress].join(',')).address).toBe(clientAddress)
      }),
    )
  })

  test('is counted by its address, or its IPv6 network', () => {
    expect(sourceFor('203.0.113.7').key).toBe('203.0.113.7')
    expect(sourceFor('2001:db8:1:2:3:4:5:6').key).toBe('2001:db8:1:2::/64')
    expect(sourceFor('2001:db8:1:2:ffff::').key).toBe('2001:db8:1:2::/64')
    expect(identifySource('2001:db8::1', peer, 1, 128).key).toBe('2001:db8::1/128')
  })

  test.each([
    ['6to4', ['2002:cb00:7107::1', '2002:cb00:7107:ffff:1:2:3:4']],
    ['NAT64', ['64:ff9b::203.0.113.7', '64:ff9b:1::203.0.113.7', '64:ff9b:1:2:3:4:203.0.113.7']],
    ['Teredo', ['2001:0:4136:e378:8000:63bf:34ff:8ef8', '2001:0:1:2:3:4:34ff:8ef8']],
    ['a mapped address', ['::ffff:203.0.113.7']],
  ])('over %s is counted by the IPv4 address inside', (_, addresses) => {
    for (const address of addresses) expect(sourceFor(address).key, address).toBe('203.0.113.7')
  })

  test('of a peer is its canonical address, without a zone', () => {
    expect(identifySource('', '::ffff:10.0.0.9', 1, 64)).toMatchObject({ address: '10.0.0.9', key: 'peer:10.0.0.9' })
    expect(identifySource('', 'fe80::1%eth0', 1, 64)).toMatchObject({ address: 'fe80::1', key: 'peer:fe80::/64' })
    expect(identifySource('', '', 1, 64)).toMatchObject({ address: 'unknown', key: 'peer:unknown' })
  })

  test('does not throw for any header', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 80 }), fc.integer({ min: 1, max: 32 }), (list, depth) => {
        expect(sourceFor(list, depth).key).not.toBe('')
      }),
    )
  })
})
