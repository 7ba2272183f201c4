// Where connections may lead: to checked addresses alone, and with TLS to the one that its certificate names.
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
  startUpstreamFixture as world,
} from '../../../test/support/proxy/upstream-fixture.ts'
import { addressRule } from './address-rule.ts'
import {
  AddressDeniedError,
  type AddressResolver,
  checkOrigin,
  parseUpstreamOrigin,
  type UpstreamOrigin,
} from './dial.ts'
import { defaultUpstreamLimits } from './limits.ts'
import { upstream } from './upstream.ts'

afterEach(closeUpstreamFixtures)

const lookupAddresses = (...addresses: string[]): LookupAddress[] =>
  addresses.map((address) => ({ address, family: 4 }))

describe('addresses', () => {
  test('a literal that may not be dialled is not', async () => {
    const { server, ask, over } = await world(createResponder(helloResponse), { trusted: [] })
    const { told } = ask()
    await over(told)
    expect(told.events).toEqual(['fail address'])
    expect(server.connections).toHaveLength(0)
  })

  test('nor a name that means one, even among others', async () => {
    const resolve: AddressResolver = (_, done) => done(null, lookupAddresses('127.0.0.1', '10.0.0.1'))
    const { server, ask, over } = await world(createResponder(helloResponse), { host: 'up.example', resolve })
    const { told } = ask()
    await over(told)
    expect(told.events).toEqual(['fail address'])
    expect(server.connections).toHaveLength(0)
  })

  test('each connection asks again: a name that means something else later leads nowhere', async () => {
    const answers = [lookupAddresses('127.0.0.1'), lookupAddresses('169.254.169.254')]
    const asked: string[] = []
    const resolve: AddressResolver = (host, done) => {
      asked.push(host)
      done(null, answers.shift() ?? [])
    }
    const text = helloResponse.replace('200 OK', '200 OK\r\nConnection: close')
    const { ask, over } = await world(createResponder(text), { host: 'up.example', resolve })
    const first = ask()
    await over(first.told)
    expect(first.told.body).toBe('hello')
    const second = ask()
    await over(second.told)
    expect(second.told.events).toEqual(['fail address'])
    expect(asked).toEqual(['up.example', 'up.example'])
  })

  test.each([
    ['a name without addresses', (_: string, done: Parameters<AddressResolver>[1]) => done(null, [])],
    ['a name that nobody knows', (_: string, done: Parameters<AddressResolver>[1]) => done(new Error('ENOTFOUND'), [])],
  ])('%s is no connection', async (_, resolve) => {
    const { ask, over } = await world(createResponder(helloResponse), { host: 'up.example', resolve })
    const { told } = ask()
    await over(told)
    expect(told.events).toEqual(['fail connect'])
  })

  test('a port where nobody listens is no connection', async () => {
    const { server, ask, over } = await world(createResponder(helloResponse))
    await server.close()
    const { told } = ask()
    await over(told)
    expect(told.events).toEqual(['fail connect'])
  })
})

describe('an origin', () => {
  test.each([
    ['http://up.example', { host: 'up.example', port: 80 }],
    ['https://up.example/base', { host: 'up.example', port: 443, tls: {} }],
    ['http://[::1]:8080', { host: '::1', port: 8080 }],
    // The parser of URLs knows every spelling of an IPv4 address.
    ['http://0x7f.1', { host: '127.0.0.1', port: 80 }],
    ['http://2130706433:1', { host: '127.0.0.1', port: 1 }],
    ['ftp://up.example', undefined],
  ])('%s', (url, origin) => {
    expect(parseUpstreamOrigin(new URL(url))).toEqual(origin)
  })

  test('is checked before anything is sent there', async () => {
    const private_: AddressResolver = (_, done) => done(null, lookupAddresses('8.8.8.8', '192.168.0.1'))
    const open: AddressResolver = (_, done) => done(null, lookupAddresses('8.8.8.8'))
    const rule = addressRule([])
    const check = (origin: UpstreamOrigin, resolve?: AddressResolver) => checkOrigin(origin, rule, resolve)
    expect(await check({ host: '127.0.0.1', port: 1 })).toBeInstanceOf(AddressDeniedError)
    expect(await check({ host: 'up.example', port: 1 }, private_)).toMatchObject({
      message: '192.168.0.1 is private, and not in a trusted network',
    })
    expect(await check({ host: 'up.example', port: 1 }, open)).toBeUndefined()
    expect(await check({ host: '8.8.8.8', port: 1 })).toBeUndefined()
  })

  test('the name of this machine is asked for where nothing else is said', async () => {
    expect(await checkOrigin({ host: 'localhost', port: 1 }, addressRule([]))).toBeInstanceOf(AddressDeniedError)
    expect(await checkOrigin({ host: 'localhost', port: 1 }, addressRule(['127.0.0.0/8', '::1']))).toBeUndefined()
  })
})

describe('TLS', () => {
  const dir = mkdtempSync(join(tmpdir(), 'dial-'))
  let port = 0
  let known = ''
  let stranger = ''
  const server = createServer((request, response) => response.end(`you asked ${request.headers.host}`))

  beforeAll(async () => {
    const authority = await createAuthority(dir, 'known')
    const other = await createAuthority(dir, 'stranger')
    known = authority.certificate
    stranger = other.certificate
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

  async function asked(host: string, ca: string) {
    const client = upstream({
      origin: { host, port, tls: { ca } },
      rule: addressRule(['127.0.0.1']),
      limits: defaultUpstreamLimits,
      clock: manualCoarseClock(),
      resolve: byName,
    })
    const sink = createRecordingSink()
    client.forward({ method: 'GET', path: '/', headers: ['host', 'up'] }, sink)
    await vi.waitFor(() => expect(sink.told.events.at(-1)).toMatch(/^(end|fail)/), pollOptions)
    client.close()
    return sink.told
  }

  test.each(['localhost', '127.0.0.1'])('leads to %s, whom the certificate names', async (host) => {
    expect(await asked(host, known)).toMatchObject({ body: 'you asked up' })
  })

  test('leads to nobody whom the authority does not know, and to nobody by another name', async () => {
    expect((await asked('localhost', stranger)).events).toEqual(['fail connect'])
    expect((await asked('elsewhere.example', known)).events).toEqual(['fail connect'])
  })
})
