// Headers for services: no claim of a client about itself reaches one, in any spelling.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { buildOwnerHeaders, findSource } from './owner-headers.ts'

const client = { peer: '192.0.2.9', scheme: 'https', host: 'Site.example:8443', certificate: undefined } as const
const own = ['x-forwarded-for', '192.0.2.9', 'x-forwarded-proto', 'https', 'x-forwarded-host', 'Site.example:8443']

describe('headers of a request', () => {
  test('without claims pass in their order, host and credentials among them', () => {
    const sent = ['host', 'Site.example:8443', 'authorization', 'Bearer a', 'cookie', 'b=c', 'accept', '*/*']
    expect(buildOwnerHeaders(sent, client, 0)).toEqual([...sent, ...own])
  })

  test.each([
    ...['x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-host', 'x-forwarded-port', 'x-forwarded-client-cert'],
    ...['x-forwarded', 'forwarded', 'x-real-ip', 'true-client-ip', 'client-cert', 'client-cert-chain', 'x-client-cert'],
    ...['x-ssl-client-cert', 'ssl-client-verify', 'x-original-url', 'x-rewrite-url', 'proxy', 'x_forwarded_for'],
    ...['client_cert', 'x-forwarded_proto'],
  ])('that claim %s are removed', (name) => {
    expect(buildOwnerHeaders([name, '127.0.0.1', name, 'again'], client, 0)).toEqual(own)
  })

  test('have the certificate that the edge has verified, and no other', () => {
    const verified = { ...client, certificate: Uint8Array.of(0xfb, 0xff) }
    expect(buildOwnerHeaders(['client-cert', ':AAAA:'], verified, 0)).toEqual([...own, 'client-cert', ':+/8=:'])
  })

  test.each([
    [0, ['1.1.1.1, 203.0.113.7'], '192.0.2.9'],
    [1, ['1.1.1.1, 203.0.113.7'], '203.0.113.7, 192.0.2.9'],
    [1, ['1.1.1.1', '203.0.113.7'], '203.0.113.7, 192.0.2.9'],
    [2, ['9.9.9.9,1.1.1.1 ,203.0.113.7'], '1.1.1.1, 203.0.113.7, 192.0.2.9'],
    [2, ['203.0.113.7'], '203.0.113.7, 192.0.2.9'],
    [2, [], '192.0.2.9'],
    [1, [' '], '192.0.2.9'],
  ])('behind %i trusted hops keep what those appended: %j', (depth, lists, expected) => {
    const sent = lists.flatMap((list) => ['x-forwarded-for', list])
    expect(buildOwnerHeaders(sent, client, depth).slice(0, 2)).toEqual(['x-forwarded-for', expected])
  })

  test('name a peer in its canonical form, and one that is gone', () => {
    const name = (peer: string) => buildOwnerHeaders([], { ...client, peer }, 0)[1]
    expect(['::ffff:192.0.2.1', '2001:DB8::1', 'fe80::1%eth0', ''].map(name)).toEqual([
      ...['192.0.2.1', '2001:db8::1', 'fe80::1', 'unknown'],
    ])
  })

  test('end with what the edge says, whatever the client sent', () => {
    const name = fc.constantFrom(
      'x-forwarded-for',
      'X_Real_IP'.toLowerCase(),
      'accept',
      'x-forwarded-by',
      'client-cert',
    )
    const fields = fc.array(fc.tuple(name, fc.string({ maxLength: 20 })), { maxLength: 8 })
    fc.assert(
      fc.property(fields, fc.nat(3), (sent, depth) => {
        const built = buildOwnerHeaders(sent.flat(), client, depth)
        const claims = built.filter((each, at) => at % 2 === 0 && each !== 'accept')
        expect(claims).toEqual(['x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-host'])
        expect(built[built.indexOf('x-forwarded-for') + 1]?.endsWith('192.0.2.9')).toBe(true)
      }),
    )
  })
})

describe('the address that a request is counted for', () => {
  test.each([
    [0, ['X-Forwarded-For', '203.0.113.7'], '192.0.2.9'],
    [1, ['X-Forwarded-For', '203.0.113.7'], '203.0.113.7'],
    [1, ['x-forwarded-for', '1.1.1.1, 203.0.113.7'], '203.0.113.7'],
    [2, ['x-forwarded-for', '203.0.113.7'], '192.0.2.9'],
    [1, ['x-forwarded-for', 'junk'], '192.0.2.9'],
    [1, ['x-forwarded-for', '2001:db8:1:2:3::4'], '2001:db8:1:2::/64'],
  ])('behind %i hops of %j is %s', (depth, headers, expected) => {
    expect(findSource(headers, '192.0.2.9', depth)).toBe(expected)
  })
})
