// Spans of public requests on real connections: a caller chooses none, floods none, writes none, and reaches no upstream by them.
import { afterEach, expect, onTestFinished, test } from 'vitest'
import { max_sampled_per_s } from '../../../daemon/roles/proxy/serving/request-spans.ts'
import { type OtlpReceiver, startOtlpReceiver } from '../../support/http/otlp-receiver.ts'
import { sendExactRequest } from '../../support/http/send-exact-request.ts'
import { proxyThreadToken, startProxyThread, type TestProxyThread } from '../../support/proxy/proxy-thread.ts'
import { readUntilClose } from '../../support/proxy/read-until-close.ts'
import { listFieldValues, respondOk, startRecordingUpstream } from '../../support/proxy/recording-upstream.ts'
import { everyRoleSections, startSingleClusterSite } from '../../support/site/single-cluster-site.ts'

const trace_id = '0af7651916cd43dd8448eb211c80319c'
const valid = `00-${trace_id}-b7ad6b7169203331-01`
const allowlist = 'GET /api/v1/report\nGET /api/v1/report/{id}'

let thread: TestProxyThread
afterEach(() => thread?.remove())

const send = (path: string, headers: readonly string[] = []) =>
  readUntilClose(thread.port, [
    [`GET /public-api/api/v1${path} HTTP/1.1`, 'Host: a', 'Connection: close', ...headers, '', ''].join('\r\n'),
  ])

const hostileTraces: readonly (readonly string[])[] = [
  ['traceparent: x'],
  [`traceparent: ${valid.toUpperCase()}`],
  [`traceparent: ff${valid.slice(2)}`],
  [`traceparent: cc${valid.slice(2)}-${'a'.repeat(12_000)}`],
  [`traceparent: ${valid}`, `traceparent: ${valid}`],
  [`traceparent: ${valid}`, `tracestate: ${'a=1,'.repeat(3_000)}`],
  [`traceparent: ${valid}`, `tracestate: \u0000\u007f,=,`],
  ['traceparent:', `tracestate: ${Array.from({ length: 33 }, (_, at) => `k${at}=1`).join(',')}`],
]

test.each(['ignore', 'adopt'] as const)(
  'hostile trace headers have the same answers with spans as without: %s',
  async (trace_mode) => {
    const answers: string[][] = []
    const reached: (string | undefined)[][] = []
    for (const trace_ratio of [0, 1]) {
      thread = await startProxyThread({ allowlist, trace_ratio, trace_mode })
      const texts: string[] = []
      for (const headers of hostileTraces) texts.push((await send('/report', headers)).split('\r\n', 1)[0] ?? '')
      answers.push(texts)
      reached.push(thread.upstream.requests.map((request) => listFieldValues(request, 'traceparent')[0]))
      const { spans, records, logged } = await thread.end()
      expect(records.length).toBeGreaterThan(6)
      expect(spans.filter(({ kind }) => kind === 'server').length).toBe(trace_ratio * records.length)
      expect([JSON.stringify(spans).includes('a=1'), logged]).toEqual([false, []])
      await thread.remove()
    }
    expect(answers[1]).toEqual(answers[0])
    expect(reached[1]).toEqual(reached[0])
  },
)

test('spans hold no path, query, header, credential or address of a caller', async () => {
  thread = await startProxyThread({ allowlist, trace_ratio: 1, rate_limit_per_min: 4 })
  const secrets = ['X-Forwarded-For: 203.0.113.77', 'Authorization: Bearer canary-1', 'Cookie: a=canary-2']
  for (const path of ['/report/canary-3?key=canary-4', '/report?canary-5', '/canary-6', '/report/%2e%2e/canary-7'])
    await send(path, [...secrets, `traceparent: ${valid}`, 'tracestate: canary-8=1'])
  await readUntilClose(thread.port, ['CANARY /public-api/api/v1/report HTTP/1.1\r\nHost: canary-9\r\n\r\n'])
  const { spans } = await thread.end()
  expect(spans.filter(({ kind }) => kind === 'server').length).toBeGreaterThanOrEqual(4)
  const text = JSON.stringify(spans).toLowerCase()
  for (const word of ['canary', '203.0.113', trace_id, proxyThreadToken, 'secret-of-the-thread'])
    expect(text).not.toContain(word)
})

test('callers that demand a span for each request get no more than the rate, and all their answers', async () => {
  thread = await startProxyThread({ allowlist, trace_ratio: Number.MIN_VALUE, trace_mode: 'adopt' })
  const connections = 100
  // Fewer than a connection may send ahead.
  const pipelined = 14
  const flood = connections * pipelined
  const request = `GET /public-api/api/v1/absent HTTP/1.1\r\nHost: a\r\ntraceparent: ${valid}\r\n\r\n`
  const last = 'OPTIONS /public-api/x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'
  const started_ms = performance.now()
  const pieces = [request.repeat(pipelined), last]
  const texts = await Promise.all(Array.from({ length: connections }, () => readUntilClose(thread.port, pieces)))
  const took_s = (performance.now() - started_ms) / 1_000
  expect(texts.join('').match(/HTTP\/1\.1 404/g)).toHaveLength(flood)
  const { spans, droppedSpans } = await thread.end()
  expect(spans.length).toBeGreaterThanOrEqual(max_sampled_per_s)
  expect(spans.length).toBeLessThanOrEqual(Math.ceil(max_sampled_per_s * (1 + took_s)) + 1)
  expect(droppedSpans).toEqual({ rate_limited: flood - spans.length })
})

/** A site with the proxy alone beside its own role, whose threads serve `rules` from an upstream of this test. */
async function startTracedProxy(
  collector: OtlpReceiver,
  proxy: Readonly<Record<string, unknown>>,
  traces: Readonly<Record<string, unknown>> = {},
) {
  const upstream = await startRecordingUpstream(respondOk)
  const provider = await startRecordingUpstream((_, socket) => {
    const body = JSON.stringify({ access_token: 'token', token_type: 'Bearer', expires_in: 3_600 })
    socket.end(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
  })
  const site = await startSingleClusterSite({
    platform: { roles: ['site', 'proxy'] },
    traces: { endpoint: collector.url, delay_ms: 20, ...traces },
    sso: { token_url: `http://127.0.0.1:${provider.port}/token` },
    proxy: {
      ...{ ...everyRoleSections.proxy, platform_api_url: `http://127.0.0.1:${upstream.port}`, allowlist },
      ...{ trusted_networks: ['127.0.0.1'], public_sso_client_id: 'door', public_sso_client_secret: 'word' },
      ...proxy,
    },
  })
  onTestFinished(async () => {
    await site.close()
    await Promise.all([upstream.close(), provider.close()])
  })
  const readMetric = async (outcome: string) => {
    const { text } = await site.request('proxy', {
      method: 'GET',
      path: '/metrics',
      token: await site.token({ roles: ['admin'] }),
    })
    return Number(new RegExp(`^proxy_span_total\\{outcome="${outcome}"\\} (\\d+)$`, 'm').exec(text)?.[1] ?? 0)
  }
  return { site, upstream, readMetric }
}

async function startCollector(): Promise<OtlpReceiver> {
  const collector = await startOtlpReceiver()
  onTestFinished(() => collector.close())
  return collector
}

test('spans of a thread reach the collector with a report, in one trace, and are counted', async () => {
  const collector = await startCollector()
  const { site, upstream, readMetric } = await startTracedProxy(collector, { trace_ratio: 1, trace_mode: 'adopt' })
  const path = '/public-api/api/v1/report/7'
  expect(
    (await sendExactRequest({ method: 'GET', port: site.port('proxy'), path, headers: { traceparent: valid } })).status,
  ).toBe(200)
  expect(await readMetric('recorded')).toBe(2)
  await expect
    .poll(() => collector.spans.filter(({ traceId }) => traceId === trace_id).length, { timeout: 30_000 })
    .toBe(2)
  const [client, server] = collector.spans.filter(({ traceId }) => traceId === trace_id)
  expect(server).toMatchObject({
    kind: 2,
    parentSpanId: 'b7ad6b7169203331',
    name: 'GET /public-api/api/v1/report/{id}',
  })
  expect(client).toMatchObject({
    kind: 3,
    parentSpanId: server?.spanId,
    attributes: { 'http.response.status_code': 200 },
  })
  // The upstream receives what it received before there were spans: the ids of the caller, with the flag cleared.
  expect(upstream.requests.map((request) => listFieldValues(request, 'traceparent'))).toEqual([
    [`${valid.slice(0, -2)}00`],
  ])
})

test('a full queue of the exporter drops spans, and the metric counts them', async () => {
  const collector = await startCollector()
  collector.respondWith('hang')
  const { site, readMetric } = await startTracedProxy(collector, { trace_ratio: 1 }, { queue: 4, batch: 4 })
  const paths = Array.from({ length: 30 }, (_, at) => `/public-api/absent/${at}`)
  for (const path of paths)
    expect((await sendExactRequest({ method: 'GET', port: site.port('proxy'), path })).status).toBe(404)
  const [recorded, no_room] = [await readMetric('recorded'), await readMetric('no_room')]
  // Requests to the role itself, such as those for its metrics, take places of the queue as well.
  expect(recorded).toBeLessThanOrEqual(4)
  expect(recorded + no_room).toBe(30)
})

test('without an exporter a ratio has no effect, and a warning names the remedy', async () => {
  const site = await startSingleClusterSite({
    platform: { roles: ['site', 'proxy'] },
    ...{ sso: everyRoleSections.sso, proxy: { ...everyRoleSections.proxy, trace_ratio: 0.5 } },
  })
  onTestFinished(() => site.close())
  const warnings = site.logged.filter((line) => line.includes('proxy.spans.no_exporter'))
  expect(warnings).toHaveLength(1)
  expect(warnings[0]).toContain('OTEL_EXPORTER_OTLP_ENDPOINT')
})
