// Requests at the edge before scripted services: what reaches those, what comes back, and what is refused.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { formatRawRequest, sendRawHttp } from '../../support/http/send-raw-http.ts'
import {
  listFieldValues,
  type RecordingUpstream,
  respondOk,
  startRecordingUpstream,
} from '../../support/proxy/recording-upstream.ts'
import { type EdgeSite, startEdgeSite } from './edge-site.ts'

let backend: RecordingUpstream
let edge: EdgeSite
const events: Record<string, unknown>[] = []
beforeAll(async () => {
  backend = await startRecordingUpstream(respondOk)
  const backends = { 'consensus-service': [`http://127.0.0.1:${backend.port}`] }
  edge = await startEdgeSite({ backends, onEvent: (event, fields) => void events.push({ event, ...fields }) })
})
afterAll(async () => {
  await edge?.site.end()
  await backend?.close()
})
beforeEach(() => {
  backend.requests.length = 0
  events.length = 0
  backend.respond = respondOk
})

const path = '/api/v2/consensus/session'
const send = (line: string, headers: Readonly<Record<string, string>> = {}, body = '') =>
  sendRawHttp({ port: edge.port }, formatRawRequest(line, headers, body))
const valuesAtBackend = (name: string) => backend.requests.map((request) => listFieldValues(request, name))

test('a request arrives with its host, its credentials, and the facts of the edge', async () => {
  const headers = {
    ...{ host: 'site.example:8443', authorization: 'Bearer a.b.c', cookie: 'd=e', te: 'trailers' },
    ...{ 'x-forwarded-for': '10.0.0.1', forwarded: 'for=10.0.0.1', 'x-real-ip': '10.0.0.1', 'client-cert': ':AAAA:' },
    ...{ connection: 'close, x-private', 'x-private': '1', 'x-forwarded-proto': 'https', 'x-original-url': '/admin' },
  }
  const { status, body } = await send(`POST //api/v2/./consensus/session?a=%2f`, headers, '{}')
  expect({ status, body }).toEqual({ status: 200, body: '{"ok":1}\n' })
  const [request] = backend.requests
  expect(request).toMatchObject({ method: 'POST', target: `${path}?a=%2f`, body: '{}', oddities: [] })
  expect(Object.fromEntries(request?.fields ?? [])).toEqual({
    ...{ host: 'site.example:8443', authorization: 'Bearer a.b.c', cookie: 'd=e', 'content-length': '2' },
    ...{ 'x-forwarded-for': '127.0.0.1', 'x-forwarded-proto': 'http', 'x-forwarded-host': 'site.example:8443' },
    traceparent: expect.stringMatching(/^00-[0-9a-f]{32}-[0-9a-f]{16}-02$/),
  })
})

test('a valid trace passes, and a malformed one is replaced', async () => {
  const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`
  await send(`GET ${path}`, { traceparent, tracestate: 'c=d' })
  await send(`GET ${path}`, { traceparent: 'x', tracestate: 'c=d' })
  expect(valuesAtBackend('tracestate')).toEqual([['c=d'], []])
  expect(valuesAtBackend('traceparent')).toEqual([[traceparent], [expect.stringMatching(/^00-[0-9a-f]{32}-/)]])
})

describe('a problem document answers', () => {
  test.each([
    ['GET /', 404, 'not_found'],
    ['GET /api/v2/nobody', 404, 'not_found'],
    ['GET /api/v1/anything', 503, 'no_backend'],
    ['GET /agentspace', 503, 'no_backend'],
    [`GET ${path}%2fa`, 400, 'malformed'],
    [`GET ${path};x/../a/..;/b`, 400, 'malformed'],
    ['GET /api/v2/consensus/%2e%2e/%2e%2e/%2e%2e/%2e%2e/a', 400, 'malformed'],
    [`GET ${path}\\a`, 400, 'malformed'],
    [`GET ${path}/%252e%252e/a`, 400, 'malformed'],
    [`GET http://other${path}`, 400, 'malformed'],
    [`TRACE ${path}`, 405, 'method_not_allowed'],
  ])('%s: %i %s', async (line, status, code) => {
    const found = await send(line)
    expect(found.status).toBe(status)
    expect(found.headers).toMatchObject({ 'content-type': 'application/problem+json', 'cache-control': 'no-store' })
    expect(JSON.parse(found.body)).toMatchObject({ type: `urn:platform:problem:${code}`, status, code })
    if (status === 503) expect(found.headers['retry-after']).toBe('5')
    expect(backend.requests).toEqual([])
  })
})

const smuggled = 'GET /smuggled HTTP/1.1\r\nhost: a\r\n\r\n'
test.each([
  ['two lengths', `POST ${path} HTTP/1.1\r\nhost: a\r\ncontent-length: 0\r\ncontent-length: 5\r\n\r\n${smuggled}`],
  [
    'length and chunks',
    `POST ${path} HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`,
  ],
  ['a disguised coding', `POST ${path} HTTP/1.1\r\nhost: a\r\ntransfer_encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`],
  ['a body of GET', `GET ${path} HTTP/1.1\r\nhost: a\r\ncontent-length: ${smuggled.length}\r\n\r\n${smuggled}`],
  ['two hosts', `GET ${path} HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n`],
  ['a switch to h2c', `GET ${path} HTTP/1.1\r\nhost: a\r\nconnection: upgrade, close\r\nupgrade: h2c\r\n\r\n`],
  ['a header that ends early', `GET ${path} HTTP/1.1\r\nhost: a\r\nx: a\rX-Forwarded-For: b\r\n\r\n`],
])('no request is smuggled by %s', async (_, bytes) => {
  await sendRawHttp({ port: edge.port }, bytes, (text) => /^HTTP\/1\.1 [2-5]\d\d[\s\S]*\r\n\r\n/.test(text))
  expect(backend.requests.map(({ target }) => target)).not.toContain('/smuggled')
  expect(backend.requests.flatMap(({ oddities }) => oddities)).toEqual([])
  expect(backend.listLeftovers()).toEqual([])
})

describe('a service that', () => {
  test.each([
    ['breaks off before its answer', (socket: { destroy(): void }) => socket.destroy(), 502, 'unavailable'],
    ['answers no HTTP', (socket: { end(text: string): void }) => socket.end('220 mail\r\n\r\n'), 502, 'unavailable'],
  ])('%s: %s', async (_, respond, status, code) => {
    backend.respond = (_request, socket) => void respond(socket)
    const found = await send(`POST ${path}`, {}, '{}')
    expect(found.status).toBe(status)
    expect(JSON.parse(found.body)).toMatchObject({ status, code })
    expect(events.map(({ event }) => event)).toContain('edge.forward.failed')
  })

  test('dies within its answer leaves a part that no client takes for the whole', async () => {
    backend.respond = (_, socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf', () => socket.destroy())
    }
    const { status, headers, body } = await send(`GET ${path}`)
    expect({ status, length: headers['content-length'], body }).toEqual({ status: 200, length: '100', body: 'half' })
  })
})

test('each request is a line of the log without its secrets, and is counted', async () => {
  await send(`GET ${path}?token=secret`, { authorization: 'Bearer secret', cookie: 'secret' })
  await send('GET /nobody')
  const lines = events.filter(({ event }) => event === 'edge.request')
  expect(lines).toMatchObject([
    { method: 'GET', path, status: 200, service: 'consensus-service', bytes: 9, peer: '127.0.0.1' },
    { method: 'GET', path: '/nobody', status: 404, service: 'none' },
  ])
  expect(JSON.stringify(lines)).not.toContain('secret')
  const token = await edge.site.token({ roles: ['auditor'] })
  const { text } = await edge.site.call('edge', 'GET', '/metrics', undefined, { token })
  expect(text).toMatch(/^edge_requests_total\{service="consensus-service",status_class="2xx"\} [1-9]/m)
  expect(text).toMatch(/^edge_requests_total\{service="none",status_class="4xx"\} [1-9]/m)
  expect(text).toMatch(/^edge_backends\{service="consensus-service",state="up"\} 1$/m)
})
