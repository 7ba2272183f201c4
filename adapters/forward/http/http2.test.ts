// HTTP/2 frame by frame: clients that reset, flood or never finish, and heads that HTTP/1.1 would read differently.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { connect as connectTls } from 'node:tls'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import type { Exchange } from '../../../daemon/kernel/forward/exchange.ts'
import { manualCoarseClock } from '../../../test/support/clock/manual-coarse-clock.ts'
import {
  cancel,
  enhance_your_calm,
  type FrameClient,
  flags,
  frame,
  frameClient,
  hpackFields,
  requestFields,
  requestFrame,
  types,
} from '../../../test/support/forward/http2-frames.ts'
import { startForwarder } from '../../../test/support/forward/test-forwarder.ts'
import { createAuthority, issueCertificate } from '../../../test/support/keys/site-certificates.ts'
import { startRawUpstream } from '../../../test/support/proxy/raw-upstream.ts'
import { closeDataListeners, startDataListener } from '../../../test/support/proxy/test-data-listener.ts'
import { pollOptions } from '../../../test/support/proxy/upstream-fixture.ts'
import type { ListenerTls } from '../../platform/http-server/listener-tls.ts'
import { defaultHttp2Limits, defaultInboundLimits } from './limits.ts'

let folder: string
let ca: string
let tls: ListenerTls
const openResources: { close(): unknown }[] = []

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'http2-'))
  const authority = await createAuthority(folder, 'site')
  const { pem } = await issueCertificate(folder, authority, 'listener')
  ca = authority.certificate
  tls = { cert: pem, key: pem }
})
afterEach(async () => {
  for (const one of openResources.splice(0)) await one.close()
  await closeDataListeners()
})
afterAll(() => rmSync(folder, { recursive: true }))

const waitFor = (check: () => void) => vi.waitFor(check, pollOptions)

const connect = async (port: number): Promise<FrameClient> => {
  const client = await frameClient(port, ca)
  openResources.push({ close: () => client.socket.destroy() })
  return client
}

const goawayCodes = ({ frames }: FrameClient) =>
  frames.filter(({ type }) => type === types.goaway).map(({ payload }) => payload.readUInt32BE(4))

const startListener = (handle?: (exchange: Exchange) => void, limits = {}) =>
  startDataListener(handle, { tls, http2: { ...defaultHttp2Limits, streams: 10, abandoned_streams: 20 }, limits })

describe('a connection ends with its client', () => {
  test('that resets its requests again and again (CVE-2023-44487)', async () => {
    const server = await startListener()
    const client = await connect(server.listener.port)
    for (let at = 0; at < 200; at++) {
      const stream = at * 2 + 1
      client.send(requestFrame(stream, requestFields('GET')), frame(types.reset, 0, stream, cancel))
    }
    await waitFor(() => expect(client.isClosed).toBe(true))
    expect(server.exchanges.length).toBeLessThan(60)
    await waitFor(() => expect(server.listener.counts().connections).toBe(0))
  })

  test('that has its requests reset by errors of its own (CVE-2025-8671)', async () => {
    const server = await startListener()
    const client = await connect(server.listener.port)
    for (let at = 0; at < 200; at++) {
      const stream = at * 2 + 1
      client.send(
        requestFrame(stream, requestFields('GET')),
        // An increment of zero is an error of the stream (RFC 9113, section 6.9).
        frame(types.window, 0, stream, Buffer.alloc(4)),
      )
    }
    await waitFor(() => expect(client.isClosed).toBe(true))
    expect(server.exchanges.length).toBeLessThan(60)
  })

  test('that sends a head without an end (CVE-2024-28182)', async () => {
    const server = await startListener()
    const client = await connect(server.listener.port)
    client.send(frame(types.headers, 0, 1, requestFields('GET')))
    for (let at = 0; at < 1_000; at++) client.send(frame(types.continuation, 0, 1, hpackFields([['x', `${at}`]])))
    await waitFor(() => expect(client.isClosed).toBe(true))
    expect(server.exchanges).toEqual([])
  })

  test.each([
    ['before the preface of the client and its first request', 10_000],
    ['between requests', 65_000],
  ])('that is silent %s', async (when, idle_ms) => {
    const server = await startListener((exchange) => exchange.reply(200, []))
    const client = await connect(server.listener.port)
    await waitFor(() => expect(server.listener.counts().connections).toBe(1))
    if (when === 'between requests') {
      client.send(requestFrame(1, requestFields('GET')))
      await server.waitForRequests(1)
      await waitFor(() => expect(server.listener.counts().busy).toBe(0))
    }
    server.clock.advance(idle_ms - 1)
    expect(server.listener.counts().connections).toBe(1)
    server.clock.advance(1)
    await waitFor(() => expect(client.isClosed).toBe(true))
  })
})

describe('a request', () => {
  test('above the limit of streams is refused, and those below it go on', async () => {
    const server = await startListener()
    const client = await connect(server.listener.port)
    for (let at = 0; at < 15; at++) client.send(requestFrame(at * 2 + 1, requestFields('GET')))
    await waitFor(() => expect(client.frames.filter(({ type }) => type === types.reset)).toHaveLength(5))
    expect(server.exchanges).toHaveLength(10)
  })

  test('whose head has too many bytes or fields is not served, whether or not the client acknowledged the limits', async () => {
    const server = await startListener((exchange) => exchange.reply(exchange.fault?.status ?? 200, []), {
      header_bytes: 4_096,
      header_fields: 20,
    })
    const client = await connect(server.listener.port)
    const long = requestFields('GET', [['x', 'y'.repeat(4_096)]])
    const many = Array.from({ length: 21 }, (_, at) => [`x${at}`, ''] as const)
    client.send(requestFrame(1, long))
    client.send(requestFrame(3, requestFields('GET', many)))
    const answers = () => client.frames.filter(({ type }) => type === types.reset || type === types.headers)
    await waitFor(() => expect(answers()).toHaveLength(2))
    expect(server.exchanges.filter(({ fault }) => fault?.status !== 431)).toEqual([])
  })

  test.each<[string, readonly (readonly [string, string])[]]>([
    ['transfer-encoding', [['transfer-encoding', 'chunked']]],
    ['connection', [['connection', 'close']]],
    ['a name with a capital', [['X-A', '1']]],
    ['a second path', [[':path', '/b']]],
    [
      'two lengths',
      [
        ['content-length', '0'],
        ['content-length', '5'],
      ],
    ],
  ])('with %s is refused, and never forwarded', async (_, more) => {
    const server = await startListener((exchange) => exchange.reply(exchange.fault?.status ?? 200, []))
    const client = await connect(server.listener.port)
    client.send(requestFrame(1, requestFields('GET', more)))
    await waitFor(() =>
      expect(client.frames.some(({ type }) => type === types.reset || type === types.headers)).toBe(true),
    )
    expect(server.exchanges.filter(({ fault }) => fault === undefined)).toEqual([])
  })

  test.each([
    ['a line break in its value', 'x', 'a\r\nb: c'],
    ['a NUL in its value', 'x', 'a\0'],
    ['a colon in its name', 'x:a', '1'],
    ['a blank in its name', 'x a', '1'],
  ])('loses a field with %s', async (_, name, value) => {
    const server = await startListener((exchange) => exchange.reply(200, []))
    const client = await connect(server.listener.port)
    const fields = requestFields('GET', [[name, value]])
    client.send(requestFrame(1, fields))
    await waitFor(() =>
      expect(client.frames.some(({ type }) => type === types.reset || type === types.headers)).toBe(true),
    )
    expect(server.exchanges.flatMap(({ rawHeaders }) => rawHeaders)).not.toContain(name)
  })

  test('has one host and one field of cookies, as in HTTP/1.1', async () => {
    const server = await startListener((exchange) => exchange.reply(exchange.fault?.status ?? 200, []))
    const client = await connect(server.listener.port)
    const send = (stream: number, more: readonly (readonly [string, string])[]) =>
      client.send(requestFrame(stream, requestFields('GET', more)))
    send(1, [
      ['cookie', 'a=1'],
      ['host', 'a'],
      ['x', 'y'],
      ['cookie', 'b=2'],
    ])
    send(3, [['host', 'b']])
    await server.waitForRequests(2)
    expect(server.exchanges[0]?.rawHeaders).toEqual(['host', 'a', 'x', 'y', 'cookie', 'a=1; b=2'])
    expect(server.exchanges[1]?.fault?.reason).toBe('bad_host')
  })

  test('for CONNECT has the fault of a tunnel', async () => {
    const server = await startListener((exchange) => exchange.reply(exchange.fault?.status ?? 200, []))
    const client = await connect(server.listener.port)
    const fields = hpackFields([
      [':method', 'CONNECT'],
      [':authority', 'a:443'],
    ])
    client.send(frame(types.headers, flags.end_headers, 1, fields))
    await server.waitForRequests(1)
    expect(server.exchanges[0]?.fault?.reason).toBe('tunnel')
  })
})

test('a body whose stream is reset is never complete at the upstream', async () => {
  const upstreamServer = await startRawUpstream(() => undefined)
  openResources.push(upstreamServer)
  const forwarder = await startForwarder({
    port: upstreamServer.port,
    clock: manualCoarseClock(),
    listener: { tls, http2: defaultHttp2Limits },
  })
  openResources.unshift(forwarder)
  const client = await connect(forwarder.port)
  client.send(
    frame(types.headers, flags.end_headers, 1, requestFields('POST')),
    frame(types.data, 0, 1, Buffer.from('part')),
  )
  await waitFor(() => expect(upstreamServer.connections[0]?.text).toMatch(/part\r\n$/))
  client.send(frame(types.data, 0, 1, Buffer.from('more')), frame(types.reset, 0, 1, Buffer.alloc(4)))
  await waitFor(() => expect(upstreamServer.connections[0]?.isClosed).toBe(true))
  expect(upstreamServer.connections[0]?.text).not.toMatch(/0\r\n\r\n$/)
  expect(forwarder.ends).toEqual(['gone'])
})

test.each([
  ['with an error', cancel],
  ['without an error', Buffer.alloc(4)],
])('a stream that is reset %s while its body is not read is over, and a late response is dropped', async (_, code) => {
  const failures: string[] = []
  const server = await startListener((exchange) =>
    exchange.streamBody(1 << 20, {
      data: () => false,
      end: () => failures.push('end'),
      fail: (failure) => failures.push(failure),
    }),
  )
  const client = await connect(server.listener.port)
  client.send(
    frame(types.headers, flags.end_headers, 1, requestFields('POST')),
    frame(types.data, 0, 1, Buffer.from('part')),
    frame(types.data, 0, 1, Buffer.from('more')),
  )
  await server.waitForRequests(1)
  client.send(frame(types.reset, 0, 1, code))
  await waitFor(() => expect(failures).toEqual(['gone']))
  const [exchange] = server.exchanges as [Exchange]
  expect(exchange.isOver).toBe(true)
  exchange.reply(413, [])
  await waitFor(() => expect(server.listener.counts().busy).toBe(0))
  expect(client.frames.filter(({ stream }) => stream === 1)).toEqual([])
})

test.each([204, 205, 304])('a response %i to a stream has no body', async (status) => {
  const server = await startListener((exchange) => {
    exchange.begin(status, [], 5)
    exchange.write('hello')
    exchange.end()
  })
  const client = await connect(server.listener.port)
  client.send(requestFrame(1, requestFields('GET')))
  await waitFor(() => expect(client.frames.some(({ stream }) => stream === 1)).toBe(true))
  await waitFor(() => expect(server.listener.counts().busy).toBe(0))
  const answer = client.frames.filter(({ stream }) => stream === 1)
  expect(answer.map(({ type }) => type)).toEqual([types.headers])
  // Content-length (28 in the static table) with a text of one byte. A date may have the same byte by itself.
  expect(answer[0]?.payload.toString('latin1')).not.toContain('\x5c\x015')
})

test('a client that gives no window for its response is cut off, and others are served', async () => {
  const server = await startListener((exchange) => exchange.reply(200, [], Buffer.alloc(1 << 20, 'x')))
  const client = await connect(server.listener.port)
  client.send(requestFrame(1, requestFields('GET')))
  await server.waitForRequests(1)
  await waitFor(() => expect(client.frames.some(({ type }) => type === types.data)).toBe(true))
  server.clock.advance(0)
  server.clock.advance(defaultInboundLimits.answer_grace_ms + 1)
  await waitFor(() => expect(client.frames.some(({ type }) => type === types.reset)).toBe(true))
  expect(server.unrouted).toEqual(['slow_reader'])
})

test('the end of the listener lets open requests end, and admits no further ones', async () => {
  const server = await startListener()
  const client = await connect(server.listener.port)
  client.send(requestFrame(1, requestFields('GET')))
  await server.waitForRequests(1)
  const closed = server.listener.close(60_000)
  server.clock.advance(1)
  await waitFor(() => expect(goawayCodes(client)).toEqual([0]))
  server.exchanges[0]?.reply(200, [])
  await closed
  expect(client.isClosed || goawayCodes(client).every((code) => code !== enhance_your_calm)).toBe(true)
})

test('a client without HTTP/2 is served over HTTP/1.1', async () => {
  const server = await startListener((exchange) => exchange.reply(200, [], Buffer.from('old')))
  const socket = connectTls({ port: server.listener.port, host: '127.0.0.1', servername: 'localhost', ca })
  openResources.push({ close: () => socket.destroy() })
  let text = ''
  socket.on('data', (bytes) => {
    text += bytes.toString('latin1')
  })
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  await waitFor(() => expect(text).toMatch(/^HTTP\/1\.1 200 OK[\s\S]*old$/))
})
