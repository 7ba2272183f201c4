// The public proxy as it is packaged: each step in its order, its answers, and that no request passes while a part is missing.
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import {
  countReasons,
  proxyClientSecret,
  sendProxyRequest,
  upstreamServiceToken,
  waitForRecords,
} from '../../support/proxy/packaged-proxy.ts'
import { expireTokensAtOnce, serveTestProxy } from '../../support/proxy/test-proxy.ts'

const report = '/public-api/api/v1/report'

test('a listed request goes on with the token in place of the caller’s own, and is recorded', async () => {
  const { proxy, served: at } = await serveTestProxy(['GET /api/v1/report/{id}'])
  const headers = {
    'x-forwarded-for': '203.0.113.66, 192.0.2.1',
    cookie: 'a=b',
    'x-internal-user': 'root',
    accept: 'text/x',
  }
  const answer = await sendProxyRequest(at, `${report}/7?year=2026&x=%2e%2e/`, { token: 'the-callers-own', headers })
  expect([answer.status, answer.text]).toEqual([200, '{"ok":1}\n'])
  expect(proxy.platform.requests).toEqual([
    {
      method: 'GET',
      url: '/api/v1/report/7?year=2026&x=%2e%2e/',
      headers: {
        host: `127.0.0.1:${proxy.platform.port}`,
        authorization: `Bearer ${upstreamServiceToken}`,
        'x-forwarded-for': '192.0.2.1',
        accept: 'text/x',
      },
      body: '',
    },
  ])
  const basic = Buffer.from(`door:${proxyClientSecret}`).toString('base64')
  expect(proxy.provider.requests.map(({ headers: { authorization }, body }) => [authorization, body])).toEqual([
    [`Basic ${basic}`, 'grant_type=client_credentials'],
  ])
  const [record] = await waitForRecords(proxy, 1)
  expect(record).toEqual({
    at: expect.stringMatching(/^\d{4}-/),
    source: '192.0.2.1',
    method: 'GET',
    path: '/api/v1/report/7',
    verdict: 'allow',
    upstream_status: 200,
    status: 200,
    reason: 'forwarded',
    rule: 'GET /api/v1/report/{id}',
  })
})

test('an unlisted request is 404, requests no token, and reveals nothing', async () => {
  const { proxy, served: at } = await serveTestProxy(['GET /api/v1/report', 'POST /api/v1/feedback'])
  const requests: [string, string][] = [
    ['GET', '/api/v1/report'],
    ['GET', '/public-api/api/v1/reports'],
    ['GET', '/public-api/api/v1/%2e%2e/admin'],
    ['GET', '/public-api/api/v1/feedback'],
    ['PUT', report],
    ['DELETE', '/public-api/api/v1/feedback'],
    ['PATCH', report],
    ['GET', '/public-api/health'],
    ['GET', '/public-api/service-info'],
    ['GET', '/health?'],
  ]
  const answers = []
  for (const [method, path] of requests) answers.push(await sendProxyRequest(at, path, { method }))
  expect(answers.map(({ status }) => status)).toEqual(requests.map(() => 404))
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
  expect(proxy.platform.requests).toEqual([])
  expect(proxy.provider.requests).toEqual([])
  const records = await waitForRecords(proxy, requests.length)
  expect(countReasons(records)).toEqual({ outside_prefix: 2, no_rule: 4, method: 4 })
  expect(records.filter(({ verdict }) => verdict === 'method_not_allowed')).toHaveLength(4)
  expect(records.every(({ upstream_status, status }) => upstream_status === null && status === 404)).toBe(true)
})

test('the limit comes before the token, and one source’s is not another’s', async () => {
  const { proxy, served: at } = await serveTestProxy(['GET /api/v1/report'], { RATE_LIMIT_PER_MIN: '3' })
  expireTokensAtOnce(proxy)
  const statuses = []
  for (let count = 0; count < 5; count += 1) statuses.push((await sendProxyRequest(at, report)).status)
  expect(statuses).toEqual([200, 200, 200, 429, 429])
  expect(proxy.provider.requests).toHaveLength(3)
  expect(proxy.platform.requests).toHaveLength(3)
  const limited = await sendProxyRequest(at, report)
  expect(Number(limited.headers['retry-after'])).toBeGreaterThan(0)
  expect((await sendProxyRequest(at, report, { source: '192.0.2.2' })).status).toBe(200)
  expect(countReasons(await waitForRecords(proxy, 7))).toEqual({ forwarded: 4, rate_limited: 3 })
})

test('requests that come together are counted one by one over all threads', async () => {
  const { proxy, served: at } = await serveTestProxy(['GET /api/v1/report'], { RATE_LIMIT_PER_MIN: '20' })
  const statuses = await Promise.all(
    Array.from({ length: 60 }, async () => (await sendProxyRequest(at, report)).status),
  )
  expect(statuses.filter((status) => status === 200)).toHaveLength(20)
  expect(statuses.filter((status) => status === 429)).toHaveLength(40)
  expect(proxy.platform.requests).toHaveLength(20)
})

test('a rule’s own limit comes after the general one', async () => {
  const { proxy, served: at } = await serveTestProxy(['GET /api/v1/report limit=1', 'GET /api/v1/other'], {
    RATE_LIMIT_PER_MIN: '3',
  })
  const statuses = []
  for (const path of [report, report, '/public-api/api/v1/other', '/public-api/api/v1/other']) {
    statuses.push((await sendProxyRequest(at, path)).status)
  }
  expect(statuses).toEqual([200, 429, 200, 429])
  const records = await waitForRecords(proxy, 4)
  expect(records.map(({ reason }) => reason)).toEqual(['rate_limited', 'forwarded', 'rule_rate_limited', 'forwarded'])
})

test('a write too large or too many asks for no token; one that goes on goes whole', async () => {
  const { proxy, served: at } = await serveTestProxy(['POST /api/v1/feedback'], {
    WRITE_RATE_LIMIT_PER_MIN: '2',
    WRITE_MAX_BODY_BYTES: '8',
  })
  expireTokensAtOnce(proxy)
  const post = (body: string, headers = {}) =>
    sendProxyRequest(at, '/public-api/api/v1/feedback', {
      method: 'POST',
      body,
      headers: { 'content-type': 'text/plain', ...headers },
    })
  const announced = await sendProxyRequest(at, '/public-api/api/v1/feedback', { method: 'POST', announced_bytes: 9 })
  expect(announced.status).toBe(413)
  expect((await post('123456789')).status).toBe(413)
  expect(proxy.provider.requests).toHaveLength(0)
  expect((await post('12345678')).status).toBe(200)
  expect((await post('é')).status).toBe(200)
  expect((await post('a')).status).toBe(429)
  expect(proxy.provider.requests).toHaveLength(2)
  expect(proxy.platform.requests.map(({ body }) => body)).toEqual(['12345678', 'é'])
  expect(countReasons(await waitForRecords(proxy, 5))).toEqual({
    body_too_large: 2,
    forwarded: 2,
    write_rate_limited: 1,
  })
})

test('a cache hit asks for no token and nobody else, and is counted and recorded all the same', async () => {
  const { proxy, served: at } = await serveTestProxy(['GET /api/v1/report', 'HEAD /api/v1/report'], {
    ...{ CACHE_MAX_MB: '1', CACHE_TTL_S: '600', RATE_LIMIT_PER_MIN: '5', PROXY_WORKERS: '1' },
  })
  expireTokensAtOnce(proxy)
  proxy.platform.respond = (_, response) => response.setHeader('content-length', 9).end('{"ok":1}\n')
  const first = await sendProxyRequest(at, report)
  const second = await sendProxyRequest(at, `${report}`)
  expect([first.text, second.text]).toEqual(['{"ok":1}\n', '{"ok":1}\n'])
  expect(second.headers.age).toBe('0')
  expect((await sendProxyRequest(at, `${report}?a=1`)).headers.age).toBeUndefined()
  const heads = [
    await sendProxyRequest(at, report, { method: 'HEAD' }),
    await sendProxyRequest(at, report, { method: 'HEAD' }),
  ]
  expect(heads.map(({ status, headers }) => [status, headers['content-length']])).toEqual([
    [200, '9'],
    [200, '9'],
  ])
  expect((await sendProxyRequest(at, report)).status).toBe(429)
  expect(proxy.provider.requests).toHaveLength(3)
  expect(proxy.platform.requests).toHaveLength(3)
  const records = await waitForRecords(proxy, 6)
  expect(countReasons(records)).toEqual({ forwarded: 3, cache_hit: 2, rate_limited: 1 })
  expect(records.find(({ reason }) => reason === 'cache_hit')).toMatchObject({
    verdict: 'allow',
    upstream_status: null,
  })
})

test('without a token nothing goes on, and what the provider says stays inside', async () => {
  const { proxy, served: at } = await serveTestProxy(['GET /api/v1/report'])
  proxy.provider.respond = (_, response) => {
    response.statusCode = 401
    response.end(
      `{"error":"invalid_client","error_description":"wrong ${proxyClientSecret}, says realm-of-the-inside"}`,
    )
  }
  const answer = await sendProxyRequest(at, report)
  expect(answer.status).toBe(503)
  expect(answer.text).not.toContain('invalid_client')
  expect(proxy.platform.requests).toEqual([])
  await expect.poll(() => at.log()).toContain('realm-of-the-inside')
  expect(at.log()).not.toContain(proxyClientSecret)
  await proxy.provider.close()
  await expect.poll(async () => (await sendProxyRequest(at, report)).status).toBe(503)
  await expect.poll(() => at.log(), { timeout: 60_000 }).toContain('proxy.token.refused')
  const records = JSON.stringify(await waitForRecords(proxy, 2))
  expect(records).toContain('token_unavailable')
  for (const secret of [proxyClientSecret, upstreamServiceToken]) expect(records + at.log()).not.toContain(secret)
})

test('without its counters nothing goes on, and nobody asks for a token', async () => {
  const { proxy, served: at } = await serveTestProxy(['GET /api/v1/report'], {
    KV_HOST: '127.0.0.1',
    KV_PORT: '1',
    KV_VERIFY: 'false',
  })
  expect((await sendProxyRequest(at, report)).status).toBe(503)
  expect((await sendProxyRequest(at, '/public-api/api/v1/other')).status).toBe(404)
  expect([proxy.platform.requests, proxy.provider.requests]).toEqual([[], []])
  expect(countReasons(await waitForRecords(proxy, 2))).toEqual({ counter_unavailable: 1, no_rule: 1 })
})

test('a preflight is answered here, and says POST where a rule does', async () => {
  const { proxy, served: at } = await serveTestProxy(['GET /api/v1/report', 'POST /api/v1/feedback'], {
    CORS_ALLOW_ORIGIN: 'https://city.example',
  })
  const headers = { origin: 'https://a.example', 'access-control-request-headers': 'content-type, x-mine' }
  const answer = await sendProxyRequest(at, report, { method: 'OPTIONS', headers })
  expect(answer.status).toBe(204)
  expect(answer.headers).toMatchObject({
    'access-control-allow-origin': 'https://city.example',
    'access-control-allow-methods': 'GET, HEAD, OPTIONS, POST',
    'access-control-allow-headers': 'content-type, x-mine',
  })
  const unlisted = await sendProxyRequest(at, '/public-api/api/v1/unlisted', { method: 'OPTIONS', headers })
  expect([unlisted.status, unlisted.headers]).toEqual([204, { ...answer.headers, date: unlisted.headers.date }])
  expect((await sendProxyRequest(at, '/unlisted', { method: 'OPTIONS' })).status).toBe(404)
  expect([proxy.platform.requests, proxy.provider.requests]).toEqual([[], []])
  expect(countReasons(await waitForRecords(proxy, 3))).toEqual({ preflight: 2, outside_prefix: 1 })
})

test('returns the platform’s answer unchanged, except for headers that reveal the inside', async () => {
  const { proxy, served: at } = await serveTestProxy(['GET /api/v1/*', 'HEAD /api/v1/*'])
  proxy.platform.respond = ({ url, method }, response) => {
    response.setHeader('Server', 'inside/1.0')
    response.setHeader('X-Powered-By', 'inside')
    response.setHeader('X-Internal-Host', 'db7')
    response.setHeader('Access-Control-Allow-Origin', 'https://inside')
    response.statusCode = Number(url.split('/').at(-1))
    if (response.statusCode === 302) response.setHeader('Location', '/elsewhere?a=b')
    response.end(method === 'HEAD' ? undefined : 'no json <at all>')
  }
  for (const status of [200, 302, 404, 418, 500, 503]) {
    const answer = await sendProxyRequest(at, `/public-api/api/v1/${status}`)
    expect([answer.status, answer.text]).toEqual([status, 'no json <at all>'])
    expect(answer.headers).not.toHaveProperty('server')
    expect(answer.headers).not.toHaveProperty('x-powered-by')
    expect(answer.headers).not.toHaveProperty('x-internal-host')
    expect(answer.headers['access-control-allow-origin']).toBe('*')
    if (status === 302) expect(answer.headers.location).toBe('/elsewhere?a=b')
  }
  const records = await waitForRecords(proxy, 6)
  expect(records.every(({ verdict }) => verdict === 'allow')).toBe(true)
  expect(records.map(({ upstream_status }) => upstream_status)).toEqual([503, 500, 418, 404, 302, 200])
})

test('a long answer streams: its beginning is there before its end, and it comes whole', async () => {
  const { proxy, served: at } = await serveTestProxy(['GET /api/v1/report'])
  const megabyte = Buffer.alloc(1_048_576, 'x')
  let goOn: () => void = () => undefined
  proxy.platform.respond = (_, response) => {
    response.write(megabyte)
    goOn = () => response.end(megabyte)
  }
  const socket = connect(at.ports.proxy ?? 0, '127.0.0.1')
  socket.write(`GET ${report} HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 192.0.2.1\r\nConnection: close\r\n\r\n`)
  let bytes = 0
  socket.on('data', (piece: Buffer) => {
    bytes += piece.length
  })
  await expect.poll(() => bytes).toBeGreaterThan(megabyte.length)
  goOn()
  await new Promise((resolve) => socket.on('close', resolve))
  expect(bytes).toBeGreaterThan(2 * megabyte.length)
})

test('a platform that is away, silent or unsound is 502 or 504, and recorded as allowed without an answer', async () => {
  const { proxy, served: at } = await serveTestProxy(['GET /api/v1/*'], {})
  proxy.platform.respond = ({ url }, response) => {
    if (url.endsWith('cut')) response.socket?.destroy()
    else response.socket?.end('HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab')
  }
  expect((await sendProxyRequest(at, '/public-api/api/v1/unsound')).status).toBe(502)
  expect((await sendProxyRequest(at, '/public-api/api/v1/cut')).status).toBe(502)
  await proxy.platform.close()
  expect((await sendProxyRequest(at, '/public-api/api/v1/away')).status).toBe(502)
  const records = await waitForRecords(proxy, 3)
  expect(countReasons(records)).toEqual({ upstream_protocol: 1, upstream_unreachable: 2 })
  expect(records.every(({ verdict, upstream_status }) => verdict === 'allow' && upstream_status === null)).toBe(true)
})
