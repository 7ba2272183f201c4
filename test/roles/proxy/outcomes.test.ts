// What becomes of requests that do not go the usual way, at a real thread of the door: what is answered, kept and recorded.
import { connect, type Socket } from 'node:net'
import { afterEach, expect, test, vi } from 'vitest'
import type { RequestRecord } from '../../../daemon/roles/proxy/record/model.ts'
import { type DoorThread, doorThread, type Left } from '../../support/door-thread.ts'
import { saidAtEnd } from '../../support/said-at-end.ts'
import { soon } from '../../support/upstream-world.ts'

const allowlist = 'GET /report\nPOST /feedback'

let thread: DoorThread
let left: Left | undefined
afterEach(async () => {
  if (!left) await thread?.end()
  await thread?.remove()
  left = undefined
})

async function opened(...given: Parameters<typeof doorThread>): Promise<void> {
  thread = await doorThread({ allowlist, ...given[0] }, given[1])
}

async function records(): Promise<readonly Partial<RequestRecord>[]> {
  left = await thread.end()
  return left.records.map(({ verdict, reason, status, upstream_status }) => ({
    ...{ verdict, reason, status, upstream_status },
  }))
}

const head = (line: string, fields = '') => `${line} HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 192.0.2.1\r\n${fields}\r\n`
const get = head('GET /public-api/report', 'Connection: close\r\n')
const said = (text: string) => saidAtEnd(thread.port, [text])

/** A connection that a test ends when it likes. */
async function caller(text: string): Promise<Socket> {
  const socket = connect(thread.port, '127.0.0.1')
  socket.on('error', () => undefined)
  await new Promise((resolve) => socket.once('connect', resolve))
  socket.write(text)
  return socket
}

test('an answer that ends with its connection is never kept: half of it looks whole', async () => {
  await opened({ cache_max_mb: 1 })
  const halves = ['one half', 'the whole']
  thread.upstream.answer = (_, socket) => void socket.end(`HTTP/1.1 200 OK\r\n\r\n${halves.shift()}`)
  expect(await said(get)).toContain('one half')
  expect(await said(get)).toContain('the whole')
  thread.upstream.answer = (_, socket) =>
    void socket.end('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n')
  expect(await said(get)).not.toMatch(/^age:/m)
  expect(await said(get)).toMatch(/^age: 0/m)
})

const one = head('POST /public-api/feedback', 'Content-Length: 4\r\nConnection: close\r\n')

test('the rule comes before what is wrong with a sound request; what is not sound has no path', async () => {
  await opened({})
  const body = 'Content-Length: 3\r\nConnection: close\r\n'
  const asked: [status: number, text: string][] = [
    [404, `${head('GET /public-api/unlisted', body)}abc`],
    [404, `${head('HEAD /elsewhere', body)}abc`],
    [404, `${head('POST /public-api/unlisted', `Expect: more\r\n${body}`)}abc`],
    [400, `${head('GET /public-api/report', body)}abc`],
    [417, `${head('POST /public-api/feedback', `Expect: more\r\n${body}`)}abc`],
    [400, head('GET /public-api/unlisted', 'Content-Length: 3\r\nTransfer-Encoding: chunked\r\n')],
  ]
  for (const [status, text] of asked) expect(await said(text)).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
  const reasons = (await records()).map(({ reason }) => reason)
  expect(reasons.slice(0, 5)).toEqual(['no_rule', 'outside_prefix', 'no_rule', 'body_on_read', 'expectation'])
  expect(thread.upstream.reached).toEqual([])
})

test('who leaves before the request is whole was not let through, whatever was to become of it', async () => {
  await opened({ write_rate_limit_per_min: 1 })
  const socket = await caller(head('POST /public-api/feedback', 'Content-Length: 4\r\nExpect: 100-continue\r\n'))
  // By now it is counted, and its body is awaited.
  await new Promise((resolve) => socket.once('data', resolve))
  socket.destroy()
  await vi.waitFor(async () => expect(await thread.connections()).toBe(0), soon)
  expect(await said(`${one}abcd`)).toContain(' 429 ')
  expect(await records()).toEqual([
    { verdict: 'denied', reason: 'client_left', status: 0, upstream_status: null },
    { verdict: 'denied', reason: 'write_rate_limited', status: 429, upstream_status: null },
  ])
  expect(thread.upstream.reached).toEqual([])
})

test('who leaves while the count is asked for is recorded as the count decides', async () => {
  await opened({ rate_limit_per_min: 1 })
  expect(await said(get)).toContain(' 200 ')
  const asked = Promise.withResolvers<void>()
  const counted = Promise.withResolvers<void>()
  thread.beforeCount = () => {
    asked.resolve()
    return counted.promise
  }
  const socket = await caller(get)
  await asked.promise
  socket.destroy()
  await vi.waitFor(async () => expect(await thread.connections()).toBe(0), soon)
  counted.resolve()
  // Over the limit, or, where this took long, not counted in time.
  expect(await records()).toMatchObject([{ reason: 'forwarded' }, { verdict: 'denied', status: 0 }])
})

test('who leaves while the upstream is asked was let through', async () => {
  await opened({})
  thread.upstream.answer = () => undefined
  const socket = await caller(get)
  await vi.waitFor(() => expect(thread.upstream.reached).toHaveLength(1), soon)
  socket.destroy()
  expect(await records()).toEqual([{ verdict: 'allow', reason: 'client_gone', status: 0, upstream_status: null }])
})
