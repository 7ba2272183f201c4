// Which public requests have spans, at what rate, and what the spans say.
import { expect, test } from 'vitest'
import type { TraceSpan } from '../../../kernel/telemetry/spans.ts'
import type { ProxyConfig } from '../config.ts'
import type { ProxyReason } from '../reasons.ts'
import type { RequestOutcome } from './request-span.ts'
import { max_held_spans, max_sampled_per_s, RequestSpans } from './request-spans.ts'

const trace_id = '0af7651916cd43dd8448eb211c80319c'
const parent_id = 'b7ad6b7169203331'
const header = (flags: string) => ['Host', 'door', 'TraceParent', `00-${trace_id}-${parent_id}-${flags}`]

type SpansWorld = { share?: number; draws?: number[] }

function world({ share = 1, draws = [] }: SpansWorld = {}) {
  const dropped: Record<string, number> = {}
  let now_ms = 1_000
  let ids = 0
  let draw_count = 0
  const spans = new RequestSpans({
    share,
    scheme: 'https',
    origin: { host: 'platform.example', port: 8443, base: '/base' },
    random: (bytes) => (++ids).toString(16).padStart(bytes * 2, 'e'),
    now: () => now_ms,
    draw() {
      draw_count += 1
      return draws.shift() ?? 0
    },
    onDropped(outcome) {
      dropped[outcome] = (dropped[outcome] ?? 0) + 1
    },
  })
  const begin = (trace_ratio: number, trace_mode: ProxyConfig['trace_mode'], raw: readonly string[] = []) =>
    spans.begin('GET', raw, { trace_ratio, trace_mode } as ProxyConfig)
  return {
    ...{ spans, begin, dropped },
    draws: () => draw_count,
    ids: () => ids,
    later: (ms: number) => (now_ms += ms),
  }
}

const rule = { name: 'GET /report/{id}', method: 'GET', segments: ['report', undefined], isSubtree: false } as const
const buildOutcome = (reason: ProxyReason, status: number, more: Partial<RequestOutcome> = {}): RequestOutcome => ({
  ...{ reason, status, upstream_status: null, rule, prefix: '/open', ...more },
})

/** The spans of one sampled request. */
function record(act: (span: NonNullable<ReturnType<RequestSpans['begin']>>) => void, raw?: readonly string[]) {
  const { spans, begin, later } = world()
  const span = begin(1, raw ? 'adopt' : 'ignore', raw)
  if (!span) throw new Error('the request is not sampled')
  later(5)
  act(span)
  return spans.take()
}

test('with a ratio of 0 nothing is drawn, read or recorded, whatever the caller sends', () => {
  const { begin, draws, ids, dropped } = world()
  for (const mode of ['ignore', 'adopt'] as const) expect(begin(0, mode, header('01'))).toBeUndefined()
  expect([draws(), ids(), dropped]).toEqual([0, 0, {}])
})

test('a draw below the ratio samples a request', () => {
  const { begin } = world({ draws: [0, 0.099, 0.1, 0.5, 0.999] })
  expect(Array.from({ length: 5 }, () => begin(0.1, 'ignore') !== undefined)).toEqual([true, true, false, false, false])
})

test('a caller decides nothing unless its trace is adopted', () => {
  const { begin } = world({ draws: [0.9, 0] })
  expect(begin(0.5, 'ignore', header('01'))).toBeUndefined()
  expect(begin(0.5, 'ignore', header('00'))).toBeDefined()
  const [span] = recordForwarded(undefined)
  expect(span?.trace).toMatchObject({ flags: '03', tracestate: '' })
  expect(span?.trace.trace_id).not.toBe(trace_id)
  expect(span?.trace.parent_id).toBeUndefined()
})

const recordForwarded = (raw: readonly string[] | undefined) =>
  record((span) => span.answer(buildOutcome('cache_hit', 200)), raw)

test('an adopted trace is continued, and its flag decides without a draw', () => {
  const { begin, draws } = world()
  expect(begin(0.5, 'adopt', header('01'))).toBeDefined()
  expect(begin(0.5, 'adopt', header('00'))).toBeUndefined()
  expect(draws()).toBe(0)
  const [span] = recordForwarded(header('01'))
  expect(span?.trace).toMatchObject({ trace_id, parent_id, flags: '01', tracestate: '' })
})

test.each<[string, readonly string[]]>([
  ['is absent', ['Host', 'door']],
  ['is malformed', ['traceparent', `00-${trace_id}-${parent_id}`]],
  ['has a zero id', ['traceparent', `00-${'0'.repeat(32)}-${parent_id}-01`]],
  ['is of version ff', ['traceparent', `ff-${trace_id}-${parent_id}-01`]],
  ['is repeated', [...header('01'), ...header('01')]],
  ['is huge', ['traceparent', `01-${trace_id}-${parent_id}-01-${'x'.repeat(16_000)}`]],
])('a header that %s begins a trace by the ratio, also where traces are adopted', (_, raw) => {
  const { begin } = world({ draws: [0.9] })
  expect(begin(0.5, 'adopt', raw)).toBeUndefined()
  const [span] = recordForwarded(raw)
  expect([span?.trace.trace_id === trace_id, span?.trace.parent_id]).toEqual([false, undefined])
})

test.each([1, 0.25])('callers that demand a span for each request get so many a second: share %d', (share) => {
  const { begin, dropped, later } = world({ share })
  const limit = max_sampled_per_s * share
  const flood = () => Array.from({ length: 1_000 }, () => begin(1, 'adopt', header('01'))).filter(Boolean).length
  expect(flood()).toBe(limit)
  expect(dropped).toEqual({ rate_limited: 1_000 - limit })
  expect(flood()).toBe(0)
  later(500)
  expect(flood()).toBe(Math.floor(limit / 2))
  later(3_600_000)
  expect(flood()).toBe(limit)
})

test('many threads together keep the rate, even below one a second for each', () => {
  const { begin, later } = world({ share: 1 / 256 })
  let sampled = 0
  for (let second = 0; second < 100; second++) {
    for (let at = 0; at < 10; at++) if (begin(1, 'ignore')) sampled += 1
    later(1_000)
  }
  expect(sampled).toBeGreaterThan((50 * max_sampled_per_s) / 256)
  expect(sampled).toBeLessThanOrEqual(Math.ceil((100 * max_sampled_per_s) / 256) + 1)
})

test('ended spans wait for a report in a bounded queue', () => {
  const { spans, begin, dropped, later } = world()
  for (let at = 0; at < max_held_spans + 10; at++) {
    begin(1, 'ignore')?.answer(buildOutcome('no_rule', 404))
    later(100)
  }
  expect(dropped).toEqual({ no_room: 10 })
  expect([spans.take().length, spans.take().length]).toEqual([max_held_spans, 0])
})

test('a denied request is one span, with its status and reason and without a rule', () => {
  expect(record((span) => span.answer(buildOutcome('no_rule', 404, { rule: undefined })))).toEqual([
    expect.objectContaining({
      ...{ name: 'GET', kind: 'server', isError: false, started_ms: 1_000, ended_ms: 1_005 },
      attributes: {
        'http.request.method': 'GET',
        'url.scheme': 'https',
        'http.response.status_code': 404,
        'platform.proxy.verdict': 'denied',
        'platform.proxy.reason': 'no_rule',
        'platform.proxy.cache': 'none',
      },
    }),
  ])
})

test('a method that is not known is not named', () => {
  const { spans } = world()
  const config = { trace_ratio: 1, trace_mode: 'ignore' } as ProxyConfig
  spans.begin('X-SECRET', [], config)?.answer(buildOutcome('no_rule', 404, { rule: undefined }))
  const [span] = spans.take()
  expect([span?.name, span?.attributes['http.request.method']]).toEqual(['HTTP', '_OTHER'])
})

test('an answer from the cache names its rule, and has no span of an upstream', () => {
  const [span, ...more] = recordForwarded(undefined)
  expect(more).toEqual([])
  expect(span).toMatchObject({
    name: 'GET /open/report/{id}',
    attributes: {
      'http.route': '/open/report/{id}',
      'platform.proxy.rule': 'GET /report/{id}',
      'platform.proxy.verdict': 'allow',
      'platform.proxy.cache': 'hit',
    },
  })
})

const forwarded = (status: number) => buildOutcome('forwarded', status, { upstream_status: status })

test('a forwarded request lasts until the upstream has no more to send, which is a span of its own', () => {
  const spans = record((span) => {
    span.missCache()
    span.forward()
    span.answer(forwarded(200))
    span.endForwarding(undefined)
    span.endForwarding('upstream_protocol')
  })
  const [client, server] = spans as readonly [TraceSpan, TraceSpan]
  expect(spans).toHaveLength(2)
  expect(client).toMatchObject({
    ...{ name: 'GET /base/report/{id}', kind: 'client', isError: false, started_ms: 1_005 },
    attributes: {
      'server.address': 'platform.example',
      'server.port': 8443,
      'url.template': '/base/report/{id}',
      'http.response.status_code': 200,
    },
  })
  expect(server).toMatchObject({ kind: 'server', isError: false, started_ms: 1_000 })
  expect(server.attributes['platform.proxy.cache']).toBe('miss')
  expect(client.trace).toMatchObject({ trace_id: server.trace.trace_id, parent_id: server.trace.span_id })
})

type ErrorOf = [isError: boolean, error: string | undefined]
test.each<[string, RequestOutcome, ProxyReason | undefined, { client: ErrorOf; server: ErrorOf }]>([
  ['is not found', forwarded(404), undefined, { client: [true, '404'], server: [false, undefined] }],
  ['fails', forwarded(500), undefined, { client: [true, '500'], server: [true, '500'] }],
  [
    'breaks off',
    forwarded(200),
    'upstream_protocol',
    { client: [true, 'upstream_protocol'], server: [true, 'upstream_protocol'] },
  ],
  [
    'never comes',
    buildOutcome('upstream_timeout', 504),
    undefined,
    { client: [true, 'upstream_timeout'], server: [true, 'upstream_timeout'] },
  ],
  [
    'is not awaited by the caller',
    buildOutcome('client_gone', 0),
    undefined,
    { client: [false, undefined], server: [false, undefined] },
  ],
])('an answer of the upstream that %s', (_, outcome, broken, expected) => {
  const spans = record((span) => {
    span.forward()
    span.answer(outcome)
    span.endForwarding(broken)
  })
  const of = (kind: string): ErrorOf[] =>
    spans.filter((each) => each.kind === kind).map((each) => [each.isError, each.attributes['error.type'] as string])
  expect({ client: of('client'), server: of('server') }).toEqual({
    client: [expected.client],
    server: [expected.server],
  })
})
