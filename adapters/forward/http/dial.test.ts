// Allowed destinations: only checked addresses, and with TLS only a server that its certificate names.
import type { LookupAddress } from 'node:dns'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { manualCoarseClock } from '../../../test/support/clock/manual-coarse-clock.ts'
import { createAuthority, issueCertificate } from '../../../test/support/keys/site-certificates.ts'
import {
  closeUpstreamFixtures,
  createRecordingSink,
  createResponder,
  helloResponse,
  pollOptions,
  startUpstreamFixture,
} from '../../../test/support/proxy/upstream-fixture.ts'
import { addressRule } from '../../platform/address-rule/address-rule.ts'
import type { AddressResolver } from '../../platform/address-rule/checked-lookup.ts'
import { parseUpstreamOrigin } from './dial.ts'
import { defaultUpstreamLimits } from './limits.ts'
import { upstream } from './upstream.ts'

afterEach(closeUpstreamFixtures)

const lookupAddresses = (...addresses: string[]): LookupAddress[] =>
  addresses.map((address) => ({ address, family: 4 }))

describe('addresses', () => {
  test('a literal address outside the rule is not dialled', async () => {
    const { server, send, waitForEnd } = await startUpstreamFixture(createResponder(helloResponse), { trusted: [] })
    const { calls } = send()
    await waitForEnd(calls)
    expect(calls.events).toEqual(['fail address'])
    expect(server.connections).toHaveLength(0)
  })

  test('a name with such an address, even among others, is not dialled', async () => {
    const resolve: AddressResolver = (_, done) => done(null, lookupAddresses('127.0.0.1', '10.0.0.1'))
    const { server, send, waitForEnd } = await startUpstreamFixture(createResponder(helloResponse), {
      host: 'up.example',
      resolve,
    })
    const { calls } = send()
    await waitForEnd(calls)
    expect(calls.events).toEqual(['fail address'])
    expect(server.connections).toHaveLength(0)
  })

  test('each connection resolves its name again: a changed address is checked', async () => {
    const answers = [lookupAddresses('127.0.0.1'), lookupAddresses('169.254.169.254')]
    const lookups: string[] = []
    const resolve: AddressResolver = (host, done) => {
      lookups.push(host)
      done(null, answers.shift() ?? [])
    }
    const text = helloResponse.replace('200 OK', '200 OK\r\nConnection: close')
    const { send, waitForEnd } = await startUpstreamFixture(createResponder(text), { host: 'up.example', resolve })
    const first = send()
    await waitForEnd(first.calls)
    expect(first.calls.body).toBe('hello')
    const second = send()
    await waitForEnd(second.calls)
    expect(second.calls.events).toEqual(['fail address'])
    expect(lookups).toEqual(['up.example', 'up.example'])
  })

  test.each([
    ['a name without addresses', (_: string, done: Parameters<AddressResolver>[1]) => done(null, [])],
    ['an unknown name', (_: string, done: Parameters<AddressResolver>[1]) => done(new Error('ENOTFOUND'), [])],
  ])('%s fails to connect', async (_, resolve) => {
    const { send, waitForEnd } = await startUpstreamFixture(createResponder(helloResponse), {
      host: 'up.example',
      resolve,
    })
    const { calls } = send()
    await waitForEnd(calls)
    expect(calls.events).toEqual(['fail connect'])
  })

  test('a closed port fails to connect', async () => {
    const { server, send, waitForEnd } = await startUpstreamFixture(createResponder(helloResponse))
    await server.close()
    const { calls } = send()
    await waitForEnd(calls)
    expect(calls.events).toEqual(['fail connect'])
  })
})

describe('an origin', () => {
  test.each([
    ['http://up.example', { host: 'up.example', port: 80 }],
    ['https://up.example/base', { host: 'up.example', port: 443, tls: {} }],
    ['http://[::1]:8080', { host: '::1', port: 8080 }],
    // The URL parser normalises every spelling of an IPv4 address.
    ['http://0x7f.1', { host: '127.0.0.1', port: 80 }],
    ['http://2130706433:1', { host: '127.0.0.1', port: 1 }],
    ['ftp://up.example', undefined],
  ])('%s', (url, origin) => {
    expect(parseUpstreamOrigin(new URL(url))).toEqual(origin)
  })
})

describe('TLS', () => {
  const dir = mkdtempSync(join(tmpdir(), 'dial-'))
  let port = 0
  let knownAuthority = ''
  let unknownAuthority = ''
  const server = createServer((request, response) => response.end(`host: ${request.headers.host}`))

  beforeAll(async () => {
    const authority = await createAuthority(dir, 'known')
    const other = await createAuthority(dir, 'unknown')
    knownAuthority = authority.certificate
    unknownAuthority = other.certificate
    const { pem } = await issueCertificate(dir, authority, 'up')
    server.setSecureContext({ cert: pem, key: pem })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    port = (server.address() as AddressInfo).port
  })

  afterAll(() => {
    server.closeAllConnections()
    server.close()
    rmSync(dir, { recursive: true })
  })

  const byName: AddressResolver = (_, done) => done(null, lookupAddresses('127.0.0.1'))

  async function requestOverTls(host: string, ca: string) {
    const client = upstream({
      origin: { host, port, tls: { ca } },
      rule: addressRule(['127.0.0.1']),
      limits: defaultUpstreamLimits,
      clock: manualCoarseClock(),
      resolve: byName,
    })
    const sink = createRecordingSink()
    client.forward({ method: 'GET', path: '/', headers: ['host', 'up'] }, sink)
    await vi.waitFor(() => expect(sink.calls.events.at(-1)).toMatch(/^(end|fail)/), pollOptions)
    client.close()
    return sink.calls
  }

  test.each(['localhost', '127.0.0.1'])('connects to %s, which the certificate names', async (host) => {
    expect(await requestOverTls(host, knownAuthority)).toMatchObject({ body: 'host: up' })
  })

  test('rejects a certificate of an unknown authority, and one for another name', async () => {
    expect((await requestOverTls('localhost', unknownAuthority)).events).toEqual(['fail connect'])
    expect((await requestOverTls('elsewhere.example', knownAuthority)).events).toEqual(['fail connect'])
  })
})
