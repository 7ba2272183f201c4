// The order of steps at the packaged proxy: of several faults of a request, the earliest step decides.
import { renameSync } from 'node:fs'
import { connect } from 'node:net'
import path from 'node:path'
import { expect, test } from 'vitest'
import { sendRawHttp } from '../../support/http/send-raw-http.ts'
import {
  countReasons,
  type PackagedProxy,
  sendProxyRequest,
  waitForRecords,
} from '../../support/proxy/packaged-proxy.ts'
import { expireTokensAtOnce, serveTestProxy } from '../../support/proxy/test-proxy.ts'

const report = '/public-api/api/v1/report'
const feedback = '/public-api/api/v1/feedback'
const rules = ['GET /api/v1/report', 'POST /api/v1/feedback']

/** Every token has expired when it arrives: the provider counts the requests that needed one. */
async function serveProxy(env: Readonly<Record<string, string>>) {
  const opened = await serveTestProxy(rules, env)
  expireTokensAtOnce(opened.proxy)
  return opened
}

const expectNoUpstreamRequests = ({ provider, platform }: PackagedProxy) =>
  expect([provider.requests, platform.requests]).toEqual([[], []])

test('path and headers come before the limit, and the limit before body and token', async () => {
  const { proxy, served: at } = await serveProxy({ RATE_LIMIT_PER_MIN: '1', WRITE_MAX_BODY_BYTES: '8' })
  await proxy.provider.close()
  const status = async (target: string, sent = {}) => (await sendProxyRequest(at, target, sent)).status
  // The one request of this source's window: it goes as far as the token, which nobody gives.
  expect(await status(report)).toBe(503)
  expect(await status('/public-api/api/v1/unlisted')).toBe(404)
  expect(await status(report, { method: 'DELETE' })).toBe(404)
  expect(await status(report, { method: 'OPTIONS' })).toBe(204)
  expect(await status(report, { headers: { 'content-type': 'a\u00ffb' } })).toBe(400)
  expect(await status(report)).toBe(429)
  expect(await status(feedback, { method: 'POST', announced_bytes: 9 })).toBe(429)
  expect(proxy.platform.requests).toEqual([])
  expect(countReasons(await waitForRecords(proxy, 7))).toEqual({
    ...{ token_unavailable: 1, no_rule: 1, method: 1, preflight: 1, header_character: 1, rate_limited: 2 },
  })
})

test('an uncounted request goes no further, with any other fault', async () => {
  const { proxy, served: at } = await serveProxy({
    KV_HOST: '127.0.0.1',
    KV_PORT: '1',
    KV_VERIFY: 'false',
    WRITE_MAX_BODY_BYTES: '8',
  })
  expect((await sendProxyRequest(at, feedback, { method: 'POST', announced_bytes: 9 })).status).toBe(503)
  expect((await sendProxyRequest(at, feedback, { method: 'PUT', announced_bytes: 9 })).status).toBe(404)
  expectNoUpstreamRequests(proxy)
})

test('a write that is announced too large takes no place among the writes; one that turns out so does', async () => {
  const { proxy, served: at } = await serveProxy({ WRITE_RATE_LIMIT_PER_MIN: '1', WRITE_MAX_BODY_BYTES: '8' })
  const post = async (sent: object) => (await sendProxyRequest(at, feedback, { method: 'POST', ...sent })).status
  expect(await post({ announced_bytes: 9 })).toBe(413)
  const line = `POST ${feedback} HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 192.0.2.1\r\nTransfer-Encoding: chunked\r\n\r\n`
  const chunked = await sendRawHttp(
    { port: at.ports.proxy ?? 0 },
    `${line}9\r\n123456789\r\n0\r\n\r\n`,
    (text) => text !== '',
  )
  expect(chunked.status).toBe(413)
  expect(await post({ body: 'a' })).toBe(429)
  expectNoUpstreamRequests(proxy)
})

test('a body is whole before the provider gets a token request', async () => {
  const { proxy, served: at } = await serveProxy({})
  const socket = connect(at.ports.proxy ?? 0, '127.0.0.1')
  let text = ''
  socket.setEncoding('latin1').on('data', (piece: string) => {
    text += piece
  })
  socket.write(
    `POST ${feedback} HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 192.0.2.1\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n`,
  )
  // By now it has been counted, and its body is awaited.
  await expect.poll(() => text).toContain('100 Continue')
  socket.write('ab')
  // A whole request of somebody else, which goes all the way meanwhile.
  expect((await sendProxyRequest(at, report, { source: '192.0.2.2' })).status).toBe(200)
  expect(proxy.provider.requests).toHaveLength(1)
  socket.write('cd')
  await expect.poll(() => text).toContain('HTTP/1.1 200 OK')
  socket.destroy()
  expect(proxy.provider.requests).toHaveLength(2)
  expect(proxy.platform.requests.map(({ body }) => body)).toEqual(['', 'abcd'])
})

test('never caches answers to POST; a hit needs no provider and no platform, and is limited all the same', async () => {
  const { proxy, served: at } = await serveProxy({
    CACHE_MAX_MB: '1',
    CACHE_TTL_S: '600',
    RATE_LIMIT_PER_MIN: '5',
    PROXY_WORKERS: '1',
  })
  proxy.platform.respond = (_, response) => response.setHeader('cache-control', 'public, max-age=600').end('{}')
  const post = async () => (await sendProxyRequest(at, feedback, { method: 'POST', body: '{}' })).status
  expect([await post(), await post()]).toEqual([200, 200])
  expect(proxy.platform.requests).toHaveLength(2)
  expect((await sendProxyRequest(at, report)).status).toBe(200)
  await Promise.all([proxy.provider.close(), proxy.platform.close()])
  const hit = await sendProxyRequest(at, report)
  expect([hit.status, hit.headers.age]).toEqual([200, expect.stringMatching(/^\d+$/)])
  expect((await sendProxyRequest(at, '/public-api/api/v1/unlisted')).status).toBe(404)
  expect((await sendProxyRequest(at, `${report}?another`)).status).toBe(503)
  expect((await sendProxyRequest(at, report)).status).toBe(429)
  expect((await sendProxyRequest(at, report, { source: '192.0.2.9' })).status).toBe(200)
})

test('unwritable records delay no request, are logged as an error, and are not lost while memory can hold them', async () => {
  const { proxy, served: at } = await serveProxy({})
  expect((await sendProxyRequest(at, report)).status).toBe(200)
  await waitForRecords(proxy, 1)
  const folder = path.join(proxy.site.dir, 'data', 'proxy', 'audit')
  renameSync(folder, `${folder}.away`)
  const requestStatus = async () => (await sendProxyRequest(at, report)).status
  const requestUntilLogged = async (expected: RegExp) => {
    const readLog = async () => {
      expect(await requestStatus()).toBe(200)
      return at.log()
    }
    await expect.poll(readLog, { timeout: 30_000 }).toMatch(expected)
  }
  // Writing goes on into the open file until it is closed.
  await requestUntilLogged(/"level":"error".*proxy\.audit\.failing/)
  expect(await requestStatus()).toBe(200)
  renameSync(`${folder}.away`, folder)
  await requestUntilLogged(/proxy\.audit\.recovered/)
  const records = await waitForRecords(proxy, proxy.platform.requests.length)
  expect(countReasons(records)).toEqual({ forwarded: proxy.platform.requests.length })
})
