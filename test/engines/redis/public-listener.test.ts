// The packaged public proxy with its counters in a real Redis over TLS: shared by processes, verified, missed at once.
import { afterAll, beforeAll, expect } from 'vitest'
import { redisKeyValue } from '../../../adapters/keyvalue/redis/redis-keyvalue.ts'
import type { KeyValue } from '../../../daemon/kernel/store/key-value.ts'
import { type Redis, redis, redisRequirement } from '../../support/engines/redis.ts'
import { issueServerCertificates, type ServerCertificateSet } from '../../support/engines/server-certificates.ts'
import { countReasons, sendProxyRequest, waitForRecords } from '../../support/proxy/packaged-proxy.ts'
import { createTestProxy, expireTokensAtOnce, serveTestProxy } from '../../support/proxy/test-proxy.ts'
import { whenPresent } from '../../support/runner/requires.ts'
import type { ServedSite } from '../../support/site/packaged-site.ts'

const test = whenPresent(redisRequirement)
const waitOptions = { timeout: 60_000 }
const report = '/public-api/api/v1/report'

let server: Redis
let certificates: ServerCertificateSet
let otherCertificates: ServerCertificateSet
let client: KeyValue | undefined

beforeAll(async () => {
  if (!redisRequirement.isPresent) return
  certificates = issueServerCertificates('server')
  otherCertificates = issueServerCertificates('stranger')
  server = await redis(certificates.of('server'))
  await server.start()
})
afterAll(async () => {
  await client?.close()
  await server?.end()
  certificates?.dispose()
  otherCertificates?.dispose()
})

const buildRedisEnvironment = () => ({
  ...{ KV_HOST: '127.0.0.1', KV_PORT: String(server.port), KV_PASSWORD: server.password },
  KV_VERIFY: certificates.of('server').ca,
})

const requestStatus = async (at: ServedSite, source: string, sent = {}) =>
  (await sendProxyRequest(at, report, { source, ...sent })).status

test('requests are counted in Redis, under the keys of the interface, for all processes together', async () => {
  const env = { RATE_LIMIT_PER_MIN: '6', ...buildRedisEnvironment() }
  const { served: one } = await serveTestProxy(['GET /api/v1/report', 'POST /api/v1/report'], env)
  const { served: two } = await serveTestProxy(['GET /api/v1/report'], env)
  for (const at of [one, two]) await expect.poll(() => requestStatus(at, '198.51.100.1'), waitOptions).toBe(200)
  const statuses = []
  for (let turn = 0; turn < 4; turn += 1)
    for (const at of [one, two]) statuses.push(await requestStatus(at, '192.0.2.1'))
  expect(statuses).toEqual([200, 200, 200, 200, 200, 200, 429, 429])
  expect(await requestStatus(one, '192.0.2.2', { method: 'POST', body: 'a' })).toBe(200)
  const { port, password } = server
  client = redisKeyValue({
    ...{
      host: '127.0.0.1',
      port,
      password,
      database: 0,
      prefix: '',
      chance: () => 0.5,
      onStateChange: () => undefined,
    },
    tls: { ca_file: certificates.of('server').ca },
  })
  const store = client
  await expect.poll(async () => (await store.health()).ok, waitOptions).toBe(true)
  expect(await store.get('proxy:rl:192.0.2.1')).toBe('8')
  expect(await store.get('proxy:rl:192.0.2.2')).toBe('1')
  expect(await store.get('proxy:rl:w:192.0.2.2')).toBe('1')
  const { left_ms } = await store.increment('proxy:rl:192.0.2.1', 1, 3_600_000)
  expect(left_ms).toBeGreaterThan(0)
  expect(left_ms).toBeLessThanOrEqual(60_000)
})

test.each(['killed', 'standing still'])(
  'while it is %s the proxy answers 503, requests no token, and recovers',
  async (how) => {
    const { proxy, served: at } = await serveTestProxy(['GET /api/v1/report'], buildRedisEnvironment())
    expireTokensAtOnce(proxy)
    await expect.poll(() => requestStatus(at, '192.0.2.3'), waitOptions).toBe(200)
    if (how === 'killed') await server.kill()
    else server.freeze()
    // A request before it noticed may still be on its way; from the first 503 on every answer is 503.
    await expect.poll(() => requestStatus(at, '192.0.2.4'), waitOptions).toBe(503)
    const before = [proxy.provider.requests.length, proxy.platform.requests.length]
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => sendProxyRequest(at, report, { source: '192.0.2.5' })),
    )
    expect(answers.map((answer) => answer.status)).toEqual(Array(8).fill(503))
    expect(new Set(answers.map(({ text }) => text))).toEqual(new Set(['{"status":503,"title":"Service Unavailable"}']))
    expect((await sendProxyRequest(at, '/public-api/api/v1/other')).status).toBe(404)
    expect([proxy.provider.requests.length, proxy.platform.requests.length]).toEqual(before)
    if (how === 'killed') await server.start()
    else server.thaw()
    await expect.poll(() => requestStatus(at, '192.0.2.6'), waitOptions).toBe(200)
    await expect.poll(() => at.log()).toContain('proxy.counters.lost')
    expect(at.log()).not.toContain(server.password)
  },
)

const invalidSettings: [name: string, env: () => Record<string, string>, says: RegExp][] = [
  ['another authority', () => ({ KV_VERIFY: otherCertificates.of('stranger').ca }), /SELF_SIGNED|UNABLE_TO|CERT/],
  ['a wrong password', () => ({ KV_PASSWORD: 'guessed-password' }), /WRONGPASS|password/],
]

test.each(invalidSettings)('with %s nothing is counted, so nothing goes on', async (_, env, says) => {
  const { proxy, served: at } = await serveTestProxy(['GET /api/v1/report'], { ...buildRedisEnvironment(), ...env() })
  await expect.poll(() => at.log(), waitOptions).toMatch(says)
  expect(await requestStatus(at, '192.0.2.7')).toBe(503)
  expect([proxy.platform.requests, proxy.provider.requests]).toEqual([[], []])
  expect(countReasons(await waitForRecords(proxy, 1))).toEqual({ counter_unavailable: 1 })
  expect(at.log()).not.toMatch(new RegExp(`${server.password}|guessed-password`))
})

test('reports a missing file of authorities at the start', async () => {
  const proxy = await createTestProxy(['GET /api/v1/report'], {
    ...buildRedisEnvironment(),
    KV_VERIFY: '/nowhere/ca.pem',
  })
  const { exit, stderr } = proxy.site.run(['serve'], proxy.env)
  expect(exit).not.toBe(0)
  expect(stderr).toMatch(/kv\.verify.*\/nowhere\/ca\.pem/)
  expect(stderr).not.toMatch(/ {4}at |node:internal/)
})
