// Requests that end in an unusual way, at a real thread of the proxy: their answers, cache entries and records.
import { connect, type Socket } from 'node:net'
import { afterEach, expect, test, vi } from 'vitest'
import type { RequestRecord } from '../../../daemon/roles/proxy/record/model.ts'
import { type ProxyThreadReport, startProxyThread, type TestProxyThread } from '../../support/proxy/proxy-thread.ts'
import { readUntilClose } from '../../support/proxy/read-until-close.ts'
import { pollOptions } from '../../support/proxy/upstream-fixture.ts'

const allowlist = 'GET /report\nPOST /feedback'

let thread: TestProxyThread
let report: ProxyThreadReport | undefined
afterEach(async () => {
  if (!report) await thread?.end()
  await thread?.remove()
  report = undefined
})

async function openThread(...args: Parameters<typeof startProxyThread>): Promise<void> {
  thread = await startProxyThread({ allowlist, ...args[0] }, args[1])
}

async function endAndReadRecords(): Promise<readonly Partial<RequestRecord>[]> {
  report = await thread.end()
  return report.records.map(({ verdict, reason, status, upstream_status }) => ({
    ...{ verdict, reason, status, upstream_status },
  }))
}

const formatHead = (line: string, fields = '') =>
  `${line} HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 192.0.2.1\r\n${fields}\r\n`
const oneRead = formatHead('GET /public-api/report', 'Connection: close\r\n')
const sendAndRead = (text: string) => readUntilClose(thread.port, [text])

/** A connection that a test ends when it likes. */
async function openCaller(text: string): Promise<Socket> {
  const socket = connect(thread.port, '127.0.0.1')
  socket.on('error', () => undefined)
  await new Promise((resolve) => socket.once('connect', resolve))
  socket.write(text)
  return socket
}

test('never caches an answer that ends with its connection: half of it looks whole', async () => {
  await openThread({ cache_max_mb: 1 })
  const halves = ['one half', 'the whole']
  thread.upstream.respond = (_, socket) => void socket.end(`HTTP/1.1 200 OK\r\n\r\n${halves.shift()}`)
  expect(await sendAndRead(oneRead)).toContain('one half')
  expect(await sendAndRead(oneRead)).toContain('the whole')
  thread.upstream.respond = (_, socket) =>
    void socket.end('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n')
  expect(await sendAndRead(oneRead)).not.toMatch(/^age:/m)
  expect(await sendAndRead(oneRead)).toMatch(/^age: 0/m)
})

const oneWrite = formatHead('POST /public-api/feedback', 'Content-Length: 4\r\nConnection: close\r\n')

test('the rule comes before faults of a sound request; a malformed one has no path', async () => {
  await openThread({})
  const body = 'Content-Length: 3\r\nConnection: close\r\n'
  const expected: [status: number, text: string][] = [
    [404, `${formatHead('GET /public-api/unlisted', body)}abc`],
    [404, `${formatHead('HEAD /elsewhere', body)}abc`],
    [404, `${formatHead('POST /public-api/unlisted', `Expect: more\r\n${body}`)}abc`],
    [400, `${formatHead('GET /public-api/report', body)}abc`],
    [417, `${formatHead('POST /public-api/feedback', `Expect: more\r\n${body}`)}abc`],
    [400, formatHead('GET /public-api/unlisted', 'Content-Length: 3\r\nTransfer-Encoding: chunked\r\n')],
  ]
  for (const [status, text] of expected) expect(await sendAndRead(text)).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
  const reasons = (await endAndReadRecords()).map(({ reason }) => reason)
  expect(reasons.slice(0, 5)).toEqual(['no_rule', 'outside_prefix', 'no_rule', 'body_on_read', 'expectation'])
  expect(thread.upstream.requests).toEqual([])
})

test('a client that leaves before the request is whole was not let through, under any rule', async () => {
  await openThread({ write_rate_limit_per_min: 1 })
  const socket = await openCaller(
    formatHead('POST /public-api/feedback', 'Content-Length: 4\r\nExpect: 100-continue\r\n'),
  )
  // By now it is counted, and its body is awaited.
  await new Promise((resolve) => socket.once('data', resolve))
  socket.destroy()
  await vi.waitFor(async () => expect(await thread.connections()).toBe(0), pollOptions)
  expect(await sendAndRead(`${oneWrite}abcd`)).toContain(' 429 ')
  expect(await endAndReadRecords()).toEqual([
    { verdict: 'denied', reason: 'client_left', status: 0, upstream_status: null },
    { verdict: 'denied', reason: 'write_rate_limited', status: 429, upstream_status: null },
  ])
  expect(thread.upstream.requests).toEqual([])
})

test('a client that leaves during the count is recorded by the result of the count', async () => {
  await openThread({ rate_limit_per_min: 1 })
  expect(await sendAndRead(oneRead)).toContain(' 200 ')
  const requested = Promise.withResolvers<void>()
  const counted = Promise.withResolvers<void>()
  thread.beforeCount = () => {
    requested.resolve()
    return counted.promise
  }
  const socket = await openCaller(oneRead)
  await requested.promise
  socket.destroy()
  await vi.waitFor(async () => expect(await thread.connections()).toBe(0), pollOptions)
  counted.resolve()
  // Over the limit, or, where this took long, not counted in time.
  expect(await endAndReadRecords()).toMatchObject([{ reason: 'forwarded' }, { verdict: 'denied', status: 0 }])
})

test('a client that leaves during the upstream request was let through', async () => {
  await openThread({})
  thread.upstream.respond = () => undefined
  const socket = await openCaller(oneRead)
  await vi.waitFor(() => expect(thread.upstream.requests).toHaveLength(1), pollOptions)
  socket.destroy()
  expect(await endAndReadRecords()).toEqual([
    { verdict: 'allow', reason: 'client_gone', status: 0, upstream_status: null },
  ])
})

test('an upstream that says nothing is 504 in its time, and one behind an address that nobody trusts is 502', async () => {
  await openThread({ answer_timeout_s: 1 })
  thread.upstream.respond = () => undefined
  expect(await sendAndRead(oneRead)).toMatch(/^HTTP\/1\.1 504 /)
  expect(await endAndReadRecords()).toEqual([
    { verdict: 'allow', reason: 'upstream_timeout', status: 504, upstream_status: null },
  ])
  await thread.remove()
  report = undefined
  // The provider’s address is trusted, and this one is not.
  await openThread({ platform_api_url: 'http://127.0.0.2:1' })
  expect(await sendAndRead(oneRead)).toMatch(/^HTTP\/1\.1 502 /)
  expect(await endAndReadRecords()).toEqual([
    { verdict: 'allow', reason: 'upstream_address', status: 502, upstream_status: null },
  ])
})

test('a body that does not arrive in time is 408, and no upstream gets a request', async () => {
  await openThread({ header_timeout_s: 1, body_timeout_s: 1 })
  expect(await sendAndRead(`${oneWrite}ab`)).toMatch(/^HTTP\/1\.1 408 /)
  expect(await endAndReadRecords()).toEqual([
    { verdict: 'denied', reason: 'slow_client', status: 408, upstream_status: null },
  ])
  expect(thread.upstream.requests).toEqual([])
})

test('a provider behind an untrusted address gets no request, and nothing is forwarded', async () => {
  await openThread({}, 'http://127.0.0.2:1/token')
  expect(await sendAndRead(oneRead)).toMatch(/^HTTP\/1\.1 503 /)
  expect(await endAndReadRecords()).toMatchObject([{ verdict: 'denied', reason: 'token_unavailable' }])
  expect(report?.logged.join()).toContain('address: ')
  expect(thread.upstream.requests).toEqual([])
})

test.each(['public_sso_client_id', 'public_sso_client_secret'])(
  'without %s no server gets a request, and nothing goes on',
  async (name) => {
    await openThread({ [name]: undefined })
    expect(await sendAndRead(oneRead)).toMatch(/^HTTP\/1\.1 503 /)
    expect(await endAndReadRecords()).toMatchObject([{ reason: 'token_unavailable' }])
    expect(thread.upstream.requests).toEqual([])
  },
)

test('serves callers while the journal is full, and counts unwritten records as lost', async () => {
  await openThread({})
  expect(await sendAndRead(oneRead)).toContain(' 200 ')
  thread.journal(true)
  for (const _ of [1, 2]) expect(await sendAndRead(oneRead)).toContain(' 200 ')
  thread.journal(false)
  expect(await sendAndRead(formatHead('GET /public-api/unlisted', 'Connection: close\r\n'))).toContain(' 404 ')
  expect((await endAndReadRecords()).map(({ reason }) => reason)).toEqual(['forwarded', 'no_rule'])
  expect(report?.lost).toBe(2)
})

test('a caller who takes a large answer too slowly frees the connection to the upstream', async () => {
  await openThread({ upstream_connections: 1, min_answer_bytes_per_s: 1_048_576 })
  const large = Buffer.alloc(64 << 20, 'x')
  thread.upstream.respond = (_, socket) =>
    void socket.write(Buffer.concat([Buffer.from(`HTTP/1.1 200 OK\r\nContent-Length: ${large.length}\r\n\r\n`), large]))
  const slow = await openCaller(oneRead)
  slow.pause()
  await vi.waitFor(() => expect(thread.upstream.requests).toHaveLength(1), pollOptions)
  thread.upstream.respond = (_, socket) => void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
  await vi.waitFor(async () => expect(await sendAndRead(oneRead)).toContain(' 200 '), pollOptions)
  slow.destroy()
  report = await thread.end()
  expect(report.unrouted).toEqual({ slow_reader: 1 })
  expect(report.records.filter(({ reason }) => reason === 'forwarded')).toHaveLength(2)
})
