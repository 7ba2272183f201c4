// An edge with narrow limits before scripted services: each request beyond one is refused, and the next one is not.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { sendExactRequest } from '../../support/http/send-exact-request.ts'
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
const events: string[] = []
beforeAll(async () => {
  backend = await startRecordingUpstream(respondOk)
  const url = `http://127.0.0.1:${backend.port}`
  edge = await startEdgeSite({
    backends: { 'consensus-service': [url], 'public-proxy': [url], 'hub-service': ['http://127.0.0.1:1'] },
    edge: {
      ...{ exchanges_per_peer: 1, answer_s: 1, max_body_bytes: 10, max_header_bytes: 4_096 },
      ...{ trace_mode: 'require', trusted_proxy_depth: 1, access_log: false },
    },
    onEvent: (event) => void events.push(event),
  })
})
afterAll(async () => {
  await edge?.site.end()
  await backend?.close()
})
beforeEach(() => {
  backend.requests.length = 0
  backend.respond = respondOk
})

const path = '/api/v2/consensus/session'
const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`
const send = (line: string, headers: Readonly<Record<string, string>> = {}, body = '') =>
  sendRawHttp({ port: edge.port }, formatRawRequest(line, { traceparent, ...headers }, body))

test('a trace can be required, but not of the public', async () => {
  const untraced = (at: string) => sendExactRequest({ port: edge.port, method: 'GET', path: at })
  expect(await untraced(path)).toMatchObject({ status: 400, text: expect.stringContaining('traceparent is missing') })
  expect(await untraced('/public-api/report')).toMatchObject({ status: 200 })
})

test('behind trusted hops their entries are kept, which the public proxy counts', async () => {
  await send(`GET ${path}`, { 'x-forwarded-for': '10.9.9.9, 203.0.113.7' })
  expect(backend.requests.map((request) => listFieldValues(request, 'x-forwarded-for'))).toEqual([
    ['203.0.113.7, 127.0.0.1'],
  ])
})

test('one address holds its share of requests, and others have their own', async () => {
  const held: (() => void)[] = []
  backend.respond = (request, socket) => void held.push(() => respondOk(request, socket))
  const first = send(`GET ${path}`)
  await expect.poll(() => held.length).toBe(1)
  backend.respond = respondOk
  expect(await send(`GET ${path}`)).toMatchObject({ status: 429, headers: { 'retry-after': '5' } })
  expect(await send(`GET ${path}`, { 'x-forwarded-for': '203.0.113.7' })).toMatchObject({ status: 200 })
  for (const answer of held) answer()
  expect(await first).toMatchObject({ status: 200 })
  expect(await send(`GET ${path}`)).toMatchObject({ status: 200 })
})

test('bodies and header fields have limits', async () => {
  expect(await send(`POST ${path}`, {}, 'x'.repeat(11))).toMatchObject({ status: 413 })
  expect(await send(`POST ${path}`, {}, 'x'.repeat(10))).toMatchObject({ status: 200 })
  expect(await send(`GET ${path}`, { a: 'x'.repeat(4_096) })).toMatchObject({ status: 431 })
})

test('a service that is silent, or not there, ends the wait', async () => {
  backend.respond = () => undefined
  expect(await send(`POST ${path}`, {}, '{}')).toMatchObject({
    status: 504,
    body: expect.stringContaining('"timeout"'),
  })
  expect(await send('GET /api/v2/hub/node')).toMatchObject({ status: 503, body: expect.stringContaining('no_backend') })
})

test('both listeners forward where neither has TLS, and no line is written if none is wanted', async () => {
  for (const port of [edge.port, edge.plain_port])
    expect(await sendExactRequest({ port, method: 'GET', path, headers: { traceparent } })).toMatchObject({
      status: 200,
    })
  expect(events).not.toContain('edge.request')
})
