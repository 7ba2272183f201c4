// The life of a public proxy: deaths that lose no record, reloads and stops that lose no request, and the site's own issuer.
import { readFileSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { product } from '../../../adapters/platform/product/product.ts'
import { sendExactRequest } from '../../support/http/send-exact-request.ts'
import {
  countReasons,
  listRecords,
  proxyClientSecret,
  readProxyMetrics,
  sendProxyRequest,
  sendToLocalSocket,
  upstreamServiceToken,
  waitForRecords,
} from '../../support/proxy/packaged-proxy.ts'
import { createTestProxy, serveTestProxy } from '../../support/proxy/test-proxy.ts'
import { createPackagedSite, type ServedSite } from '../../support/site/packaged-site.ts'

const report = '/public-api/api/v1/report'

/** Sends requests over eight kept connections until its end; collects every status. */
function requestContinuously(at: ServedSite, target = report) {
  const agent = new Agent({ keepAlive: true, maxSockets: 8 })
  const statuses: number[] = []
  let failed = 0
  let isOver = false
  const one = () =>
    new Promise<void>((resolve) => {
      const headers = { 'x-forwarded-for': '192.0.2.1' }
      const outgoing = request(
        { agent, host: '127.0.0.1', port: at.ports.proxy ?? 0, path: target, headers },
        (answer) => {
          answer.resume()
          answer.on('error', () => undefined)
          answer.on('close', () => {
            if (answer.complete) statuses.push(answer.statusCode ?? 0)
            else failed += 1
            resolve()
          })
        },
      )
      outgoing.on('error', () => {
        failed += 1
        resolve()
      })
      outgoing.end()
    })
  const lanes = Array.from({ length: 8 }, async () => {
    while (!isOver) await one()
  })
  return {
    statuses,
    failed: () => failed,
    async end() {
      isOver = true
      await Promise.all(lanes)
      agent.destroy()
    },
  }
}

test('killed again and again under load, it has recorded every request that it answered, once', async () => {
  const proxy = await createTestProxy(['GET /api/v1/report'])
  let answered = 0
  for (let round = 0; round < 3; round += 1) {
    const served = await proxy.serve()
    const load = requestContinuously(served)
    await expect.poll(() => load.statuses.length, { interval: 10 }).toBeGreaterThan(200)
    await served.kill()
    await load.end()
    answered += load.statuses.length
  }
  const served = await proxy.serve()
  await expect.poll(() => served.log()).toContain('proxy.audit.segments_recovered')
  // The journal is measured each time it has been shipped, and not before.
  await expect.poll(async () => (await listRecords(proxy)).length).toBeGreaterThanOrEqual(answered)
  await expect
    .poll(async () => (await readProxyMetrics(proxy)).get('proxy_audit_journal_bytes'), { timeout: 60_000 })
    .toBe('0')
  // A request on its way at a death may be recorded without an answer: eight at a time, each time.
  expect((await listRecords(proxy)).length).toBeLessThanOrEqual(answered + 3 * 8)
  expect(proxy.platform.requests.length).toBeGreaterThanOrEqual(answered)
})

test('every request of many is recorded once, and each segment is in the audit chain', async () => {
  const { proxy, served } = await serveTestProxy(['GET /api/v1/report'], { RATE_LIMIT_PER_MIN: '150' })
  const paths = [report, '/public-api/x', '/other', `${report}?a`]
  const requests = Array.from({ length: 300 }, (_, at) => sendProxyRequest(served, paths[at % 4] ?? ''))
  const statuses = (await Promise.all(requests)).map(({ status }) => status)
  expect(statuses.filter((status) => status === 404)).toHaveLength(150)
  const records = await waitForRecords(proxy, 300)
  expect(countReasons(records)).toEqual({ forwarded: 150, no_rule: 75, outside_prefix: 75 })
  const { stdout } = proxy.site.run(['audit', 'list', '--role', 'proxy', '--json'])
  const shipped = (JSON.parse(stdout) as { items: { event: { action: string; detail: { records: number } } }[] }).items
  const sum = shipped
    .filter(({ event }) => event.action === 'proxy.record.ship')
    .reduce((total, { event }) => total + event.detail.records, 0)
  expect(sum).toBe(300)
  const counted = await readProxyMetrics(proxy)
  expect(counted.get('proxy_request_total{verdict="allow",reason="forwarded"}')).toBe('150')
  expect(counted.get('proxy_request_total{verdict="denied",reason="no_rule"}')).toBe('75')
  expect(counted.get('proxy_answer_total{status="404"}')).toBe('150')
  expect(counted.get('proxy_audit_shipped_total')).toBe('300')
  expect(counted.get('proxy_thread')).toBe('2')
  const listing = proxy.site.run(['proxy', 'denials', '--json'])
  expect(listing.stderr).toBe('')
  const denials = JSON.parse(listing.stdout) as { total: number; items: object[] }
  expect(denials.total).toBe(150)
  expect(denials.items).toEqual([
    expect.objectContaining({ count: 75, path: '/other', reason: 'outside_prefix' }),
    expect.objectContaining({ count: 75, path: '/x', reason: 'no_rule', last_source: '192.0.2.1' }),
  ])
})

test('a reload drops no request: new rules apply, removed ones do not, and a fault changes nothing', async () => {
  const { proxy, served } = await serveTestProxy(['GET /api/v1/report'])
  const load = requestContinuously(served)
  await expect.poll(() => load.statuses.length).toBeGreaterThan(50)
  expect((await sendProxyRequest(served, '/public-api/api/v1/new')).status).toBe(404)
  const first = readFileSync(proxy.site.profile, 'utf8')
  const second = first.replace('["GET /api/v1/report"]', '["GET /api/v1/report", "GET /api/v1/new"]')
  writeFileSync(proxy.site.profile, second)
  const done = proxy.site.run(['proxy', 'reload', '--json'], proxy.env)
  expect(JSON.parse(done.stdout)).toEqual({ applied: ['proxy.allowlist'], needs_restart: [], rules: 2 })
  expect((await sendProxyRequest(served, '/public-api/api/v1/new')).status).toBe(200)

  proxy.token()
  writeFileSync(proxy.site.profile, second.replace('GET /api/v1/new', 'PUT /api/v1/new'))
  const refused = await sendToLocalSocket(proxy, '/api/v2/proxy/allowlist/reload', { method: 'POST', body: {} })
  expect(refused.status).toBe(422)
  expect(refused.text).toMatch(/proxy\.allowlist.*PUT/)
  expect((await sendProxyRequest(served, '/public-api/api/v1/new')).status).toBe(200)

  writeFileSync(proxy.site.profile, first.replace('drain_ms: 10000', ''))
  served.signal('SIGHUP')
  await expect.poll(async () => (await sendProxyRequest(served, '/public-api/api/v1/new')).status).toBe(404)
  writeFileSync(proxy.site.profile, first.replace('port: 0', 'port: 0\n  max_connections: 7'))
  const partly = proxy.site.run(['proxy', 'reload', '--json'], proxy.env)
  expect(JSON.parse(partly.stdout)).toEqual({ applied: [], needs_restart: ['proxy.max_connections'], rules: 1 })

  await load.end()
  expect(load.failed()).toBe(0)
  expect(new Set(load.statuses)).toEqual(new Set([200]))
})

test('a stop answers what has begun, on every thread, and what it answered is recorded at once', async () => {
  const { proxy, served } = await serveTestProxy(['GET /api/v1/*'])
  const waiting: (() => void)[] = []
  proxy.platform.respond = (_, response) => void waiting.push(() => response.end('late'))
  const requests = Array.from({ length: 10 }, (_, at) => sendProxyRequest(served, `/public-api/api/v1/${at}`))
  await expect.poll(() => waiting.length).toBe(10)
  const ended = served.stop()
  await expect.poll(() => served.log()).toContain('platform.stopping')
  for (const goOn of waiting) goOn()
  expect((await Promise.all(requests)).map(({ text }) => text)).toEqual(Array(10).fill('late'))
  expect(await ended).toBe(0)
  await expect(sendProxyRequest(served, '/public-api/api/v1/1')).rejects.toThrow(/ECONNREFUSED/)
  const again = await proxy.serve()
  expect(again.log()).not.toContain('proxy.audit.segments_recovered')
  await waitForRecords(proxy, 10)
})

test('health and service-info answer any client of the port itself', async () => {
  const { proxy, served } = await serveTestProxy([], { PUBLIC_PATH_PREFIX: '/open/' })
  const health = await sendProxyRequest(served, '/health')
  expect([health.status, health.json]).toEqual([200, { status: 'ok', service: 'public-proxy' }])
  expect((await sendProxyRequest(served, '/service-info')).json).toEqual({
    name: 'public-proxy',
    version: product.version,
    description: expect.any(String),
    health_path: '/health',
    api_path: '/open',
    mcp_path: null,
    tools_count: 0,
    resources_count: 0,
    capabilities: ['public-proxy'],
    objects: [],
  })
  for (const inside of ['/openapi.json', '/metrics', '/api/v2/proxy/record', '/open/health', '/open/service-info']) {
    expect((await sendProxyRequest(served, inside, { token: proxy.token() })).status, inside).toBe(404)
  }
  const whole = (await sendToLocalSocket(proxy, '/api/v2/health')).json as {
    dependencies: { name: string; state: string }[]
  }
  expect(whole.dependencies).toContainEqual(
    expect.objectContaining({ name: 'threads', state: 'ok', detail: '2 of 2 threads' }),
  )
  await waitForRecords(proxy, 5)
})

test('health tells of upstream and token endpoint by what callers brought about, and asks nobody itself', async () => {
  const { proxy, served } = await serveTestProxy(['GET /api/v1/report'])
  const readDependencies = async () => {
    const { status, dependencies } = (await sendToLocalSocket(proxy, '/api/v2/health')).json as {
      status: string
      dependencies: { name: string; state: string; detail: string }[]
    }
    const of = (wanted: string) => dependencies.find(({ name }) => name === wanted)
    return { status, upstream: of('upstream'), tokens: of('token endpoint') }
  }
  const unasked = { state: 'ok', detail: 'not used yet' }
  expect(await readDependencies()).toMatchObject({ status: 'ok', upstream: unasked, tokens: unasked })
  expect([proxy.platform.requests, proxy.provider.requests]).toEqual([[], []])
  await sendProxyRequest(served, report)
  const answered = { state: 'ok', detail: expect.stringMatching(/^answered 200, \d{4}-/) }
  const minted = { state: 'ok', detail: expect.stringMatching(/^minted, /) }
  await expect.poll(readDependencies).toMatchObject({ status: 'ok', upstream: answered, tokens: minted })
  proxy.platform.respond = (_, response) => void response.writeHead(503).end()
  await sendProxyRequest(served, report)
  const away = { state: 'down', detail: expect.stringMatching(/^answered 503, /) }
  await expect.poll(readDependencies).toMatchObject({ status: 'degraded', upstream: away, tokens: minted })
  expect((await sendProxyRequest(served, '/health')).json).toEqual({ status: 'degraded', service: 'public-proxy' })
  await proxy.platform.close()
  await sendProxyRequest(served, report)
  const gone = { state: 'down', detail: expect.stringMatching(/^upstream_unreachable, /) }
  await expect.poll(readDependencies).toMatchObject({ status: 'degraded', upstream: gone })
})

test('nothing secret is in the log, the records, the arguments or a file that others read', async () => {
  const proxy = await createTestProxy(['GET /api/v1/report'])
  const served = await proxy.serve({ LOG_LEVEL: 'debug' })
  await sendProxyRequest(served, `${report}?token=in-the-query`, { token: 'the-callers-own' })
  const records = JSON.stringify(await waitForRecords(proxy, 1))
  const explained = proxy.site.run(['profile', 'explain'], proxy.env).stdout
  for (const secret of [upstreamServiceToken, proxyClientSecret, 'the-callers-own', 'in-the-query']) {
    expect(served.log() + records + explained).not.toContain(secret)
  }
})

test('a caller who leaves is recorded, and nobody works for them any longer', async () => {
  const { proxy, served } = await serveTestProxy(['GET /api/v1/report'])
  let isCut = false
  proxy.platform.respond = (_, response) => void response.on('close', () => (isCut = true))
  const socket = connect(served.ports.proxy ?? 0, '127.0.0.1')
  socket.write(`GET ${report} HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 192.0.2.1\r\n\r\n`)
  await expect.poll(() => proxy.platform.requests.length).toBe(1)
  socket.destroy()
  await expect.poll(() => isCut).toBe(true)
  expect(countReasons(await waitForRecords(proxy, 1))).toEqual({ client_gone: 1 })
})

test('the site’s own issuer gives the token, and another role of the platform takes it', async () => {
  const site = createPackagedSite('single-cluster', 'inner')
  const secret = path.join(site.dir, '..', 'client.secret')
  writeFileSync(secret, `${proxyClientSecret}\n`, { mode: 0o600 })
  const client = { client_id: 'door', secret_file: secret, roles: ['auditor'] }
  site.edit('\nsite:', `\nidentity: ${JSON.stringify({ clients: [client] })}\n\nsite:`)
  const issuer = await site.serve()
  onTestFinished(async () => {
    await issuer.stop()
    site.remove()
  })
  const proxy = await createTestProxy(['GET /api/v2/consensus/session', 'POST /api/v2/consensus/session'])
  const served = await proxy.serve({
    SSO_TOKEN_URL: `http://127.0.0.1:${issuer.ports.site}/oauth2/token`,
    PLATFORM_API_URL: `http://127.0.0.1:${issuer.ports.consensus}`,
  })
  const listed = await sendProxyRequest(served, '/public-api/api/v2/consensus/session?limit=5')
  expect([listed.status, listed.json]).toEqual([200, { items: [], total: 0, total_is: 'exact' }])
  // The backend judges the rights of the token: an auditor opens no sessions, under any allowlist.
  const opened = await sendProxyRequest(served, '/public-api/api/v2/consensus/session', { method: 'POST', body: {} })
  expect(opened.status).toBe(403)
  const direct = await sendExactRequest({
    port: issuer.ports.consensus ?? 0,
    method: 'GET',
    path: '/api/v2/consensus/session',
  })
  expect(direct.status).toBe(401)
})
