// The gateway in the path of REST: it admits the caller, holds it to the guardrails, and forwards to the owner of the object.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findFreePorts } from '../../support/engines/server-process.ts'
import { buildSignalInput } from '../../support/every-operation/intelligence-objects.ts'
import {
  listFieldValues,
  type RecordingUpstream,
  respondOk,
  startRecordingUpstream,
} from '../../support/proxy/recording-upstream.ts'
import { createRawClient } from '../../support/proxy/test-data-listener.ts'
import { waitUntil } from '../../support/site/test-site.ts'
import { type GatewaySite, setUpServices, startGatewaySite, startService } from './gateway-site.ts'

setUpServices()

let world: GatewaySite
let owner: RecordingUpstream
let token: string
const rules = [
  { name: 'no-exports', kinds: ['rest'], paths: ['/api/v1/signal/export/*'], deny: true },
  { name: 'small', methods: ['PUT'], max_body_bytes: 4 },
  { name: 'words', deny_patterns: ['(?i)project-x'] },
  { name: 'slow-sam', subjects: ['sam'], calls_per_minute: 1 },
  { name: 'low-eve', subjects: ['eve'], label_ceiling: 'UNCLASSIFIED' },
]
beforeAll(async () => {
  owner = await startRecordingUpstream(respondOk)
  const [port = 0] = await findFreePorts(1)
  world = await startGatewaySite(
    { exchanges_per_caller: 1 },
    {
      profile: {
        platform: { roles: ['site', 'intelligence', 'gateway'] },
        intelligence: { port },
        ingress: {
          rest_gateway: { enabled: true },
          backends: { 'resolution-service': [`http://127.0.0.1:${owner.port}`] },
        },
        guardrails: { rules },
      },
    },
  )
  token = await world.site.token()
})
afterAll(async () => {
  await world?.site.end()
  await owner?.close()
  expect(world?.site.loggedErrors).toEqual([])
})

type SentParts = { readonly token?: string; readonly headers?: Readonly<Record<string, string>> }
const send = (method: 'GET' | 'POST' | 'PUT', at: string, body?: unknown, sent: SentParts = { token }) =>
  world.site.call('gateway', method, at, body, sent)
const codeOf = ({ status, json }: { status: number; json: unknown }) => `${status} ${(json as { code?: string }).code}`

test('an object is made and read by its owner, in both formats, as without the gateway', async () => {
  const made = await send('POST', '/api/v1/signal', buildSignalInput({ classification: 'UNCLASSIFIED' }))
  expect(made.status).toBe(201)
  const { uid } = made.json as { uid: string }
  for (const at of [`/api/v1/signal/${uid}`, `/userspace/signal/${uid}`]) {
    const direct = await world.site.call('intelligence', 'GET', at, undefined, { token })
    expect(await send('GET', at)).toMatchObject({ status: 200, json: direct.json })
  }
})

describe('a request without a place or a caller', () => {
  test.each([
    ['/api/v1/lens', {}, '401 unauthenticated'],
    ['/api/v1/lens', { token: 'junk' }, '401 unauthenticated'],
    ['/api/v1/dataset', undefined, '503 no_backend'],
    ['/dataspace/x', undefined, '503 no_backend'],
    ['/api/v1/effect', undefined, '503 no_backend'],
    ['/api/v2/lens', undefined, '404 not_found'],
    ['/public-api/api/v1/lens', undefined, '404 not_found'],
    ['/userspace/chat', undefined, '404 not_found'],
    ['/elsewhere', undefined, '404 not_found'],
    ['/api/v1/lens%00', undefined, '400 malformed'],
    ['/api/v1%2Flens', undefined, '400 malformed'],
  ])('%s of %j is %s', async (at, sent, expected) => {
    const before = owner.requests.length
    expect(codeOf(await send('GET', at, undefined, sent ?? { token }))).toBe(expected)
    expect(owner.requests.length).toBe(before)
  })

  test('is shown where to get a token', async () => {
    const { headers } = await send('GET', '/api/v1/lens', undefined, {})
    expect(headers.get('www-authenticate')).toContain('Bearer')
  })
})

test('token and cookies go on to the owner, and claims about the client do not', async () => {
  const headers = { cookie: 'a=b', 'x-forwarded-for': '203.0.113.9', 'client-cert': ':AAAA:', 'x-custom': 'c' }
  expect((await send('GET', '/userspace/lens/7?limit=5', undefined, { token, headers })).status).toBe(200)
  const request = owner.requests.at(-1)
  if (!request) throw new Error('nothing was forwarded')
  const value = (name: string) => listFieldValues(request, name)
  expect([request.method, request.target]).toEqual(['GET', '/userspace/lens/7?limit=5'])
  expect([value('authorization'), value('cookie'), value('x-custom')]).toEqual([[`Bearer ${token}`], ['a=b'], ['c']])
  expect([value('x-forwarded-for'), value('client-cert')]).toEqual([['127.0.0.1'], []])
  expect(value('traceparent')).toEqual([expect.stringMatching(/^00-[0-9a-f]{32}-[0-9a-f]{16}-\d\d$/)])
})

test('a token that the client names as a field of its connection reaches nobody', async () => {
  const { hostname, port } = new URL(world.site.url('gateway'))
  const client = await createRawClient(Number(port))
  const before = owner.requests.length
  const head = `GET /api/v1/lens HTTP/1.1\r\nhost: ${hostname}\r\nauthorization: Bearer ${token}`
  client.send(`${head}\r\ncookie: a=b\r\nconnection: authorization\r\n\r\n`)
  await client.waitFor('HTTP/1.1 401')
  client.socket.destroy()
  expect(owner.requests.length).toBe(before)
})

describe('guardrails', () => {
  const as = async (subject: string) => ({ token: await world.site.token({ subject }) })

  test('refuse by path, size and text, and name themselves', async () => {
    const refused = await send('GET', '/api/v1/signal/export/stix')
    expect([codeOf(refused), (refused.json as { detail: string }).detail]).toEqual([
      '403 forbidden',
      expect.stringContaining('guardrail no-exports'),
    ])
    expect(codeOf(await send('PUT', '/api/v1/lens', { long: true }))).toBe('413 too_large')
    for (const query of ['PROJECT-X', 'project%2Dx', 'pr%6Fject-x'])
      expect(codeOf(await send('GET', `/api/v1/lens?q=${query}`))).toBe('403 forbidden')
    expect(codeOf(await send('GET', '/userspace/signal/export/stix'))).toBe('403 forbidden')
  })

  test('hold a body of unknown length to its limit too', async () => {
    const { hostname, port } = new URL(world.site.url('gateway'))
    const client = await createRawClient(Number(port))
    const head = `PUT /api/v1/lens HTTP/1.1\r\nhost: ${hostname}\r\nauthorization: Bearer ${token}`
    client.send(`${head}\r\ntransfer-encoding: chunked\r\n\r\n8\r\n12345678\r\n0\r\n\r\n`)
    await client.waitFor('HTTP/1.1 413')
    client.socket.destroy()
  })

  test('count the calls of one caller', async () => {
    const sam = await as('sam')
    expect((await send('GET', '/api/v1/lens', undefined, sam)).status).toBe(200)
    const refused = await send('GET', '/api/v1/lens', undefined, sam)
    expect([codeOf(refused), Number(refused.headers.get('retry-after')) > 5]).toEqual(['429 rate_limited', true])
    expect((await send('GET', '/api/v1/lens', undefined, await as('tim'))).status).toBe(200)
  })

  test('refuse a caller that is cleared above the ceiling, whose token they cannot lower', async () => {
    expect(codeOf(await send('GET', '/api/v1/lens', undefined, await as('eve')))).toBe('403 forbidden')
    const low = { token: await world.site.token({ subject: 'eve', clearance: { level: 'UNCLASSIFIED' } }) }
    expect((await send('GET', '/api/v1/lens', undefined, low)).status).toBe(200)
  })

  test('are audited', async () => {
    const auditor = { token: await world.site.token({ subject: 'al', roles: ['auditor'] }) }
    const trail = await send('GET', '/api/v2/gateway/audit?limit=500', undefined, auditor)
    const events = (trail.json as { items: { event: { action: string; detail: unknown } }[] }).items
    const denials = events
      .filter(({ event }) => event.action === 'gateway.guardrail.denied')
      .map(({ event }) => event.detail)
    const of = { kind: 'rest', method: 'GET' }
    expect(denials).toContainEqual({ ...of, code: 'forbidden', guardrail: 'no-exports', reason: 'denied' })
    // The first beyond a rate in its window.
    expect(denials.filter((detail) => (detail as { reason: string }).reason === 'rate')).toHaveLength(1)
  })
})

test('the objects of a registered service are forwarded to it, as long as it is registered', async () => {
  const service = await startService({ name: 'weather', objects: ['forecast'] })
  expect(codeOf(await send('GET', '/api/v1/forecast/7'))).toBe('503 no_backend')
  expect((await world.register('weather-service', 'weather', service.url)).status).toBeLessThan(300)
  const statusOf = async () => (await send('GET', '/api/v1/forecast/7')).status
  const step = () => {
    world.site.wakeWorker('gateway', 'follow-registry')
    return statusOf()
  }
  await waitUntil(async () => (await step()) === 200)
  expect(service.reads).toContain('GET /api/v1/forecast/7')
  await world.site.call('gateway', 'DELETE', '/api/v1/register/weather', undefined, {
    token: await world.site.token({ subject: 'weather-service', roles: ['service'] }),
  })
  await waitUntil(async () => (await step()) === 503)
})

test('a caller has its share of requests under way, and no more', async () => {
  const { hostname, port } = new URL(world.site.url('gateway'))
  const holder = await world.site.token({ subject: 'hal' })
  owner.respond = () => undefined
  const client = await createRawClient(Number(port))
  const before = owner.requests.length
  client.send(`GET /api/v1/lens HTTP/1.1\r\nhost: ${hostname}\r\nauthorization: Bearer ${holder}\r\n\r\n`)
  await waitUntil(() => owner.requests.length > before)
  expect(codeOf(await send('GET', '/api/v1/lens', undefined, { token: holder }))).toBe('429 rate_limited')
  client.socket.destroy()
  owner.respond = respondOk
  await waitUntil(async () => (await send('GET', '/api/v1/lens', undefined, { token: holder })).status === 200)
})

test('a stream of an owner arrives as it is sent', async () => {
  const { hostname, port } = new URL(world.site.url('gateway'))
  let finish = () => undefined as unknown
  owner.respond = (_, socket) => {
    socket.write(
      'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n5\r\nearly\r\n',
    )
    finish = () => socket.write('4\r\nlate\r\n0\r\n\r\n')
  }
  const client = await createRawClient(Number(port))
  client.send(`GET /api/v1/lens HTTP/1.1\r\nhost: ${hostname}\r\nauthorization: Bearer ${token}\r\n\r\n`)
  await client.waitFor('early')
  finish()
  await client.waitFor('late')
  client.socket.destroy()
  owner.respond = respondOk
})
