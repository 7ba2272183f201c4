// Failures between the steps of a request: it is answered once, other requests are not delayed, and nothing is forwarded by mistake.

import { expect, test } from 'vitest'
import type { Exchange } from '../../../kernel/forward/exchange.ts'
import type { ResponseSink, UpstreamFailure } from '../../../kernel/forward/upstream.ts'
import type { DependencyObservation } from '../../../kernel/role/dependency.ts'
import type { CounterValue } from '../../../kernel/store/key-value.ts'
import { compileProxyConfig, type ProxyConfig } from '../config.ts'
import { ProxyRequest } from './proxy-request.ts'
import type { ProxyRequestDependencies } from './proxy-request-dependencies.ts'
import type { RequestRecorder } from './request-recorder.ts'
import { WindowCounter } from './window-counter.ts'

const values = {
  ...{
    allowlist: 'GET /report\nGET /broken\nPOST /report',
    public_path_prefix: '/open',
    trusted_proxy_depth: 0,
    ipv6_prefix: 64,
  },
  ...{ rate_limit_per_min: 100, write_rate_limit_per_min: 100, write_max_body_bytes: 100, max_target_bytes: 1_000 },
  ...{ cors_allow_origin: '*', cache_max_mb: 0, cache_ttl_s: 0 },
}
const config: ProxyConfig = compileProxyConfig(values as Parameters<typeof compileProxyConfig>[0])

type ProxyRequestWorld = { count?: () => Promise<CounterValue>; token?: ProxyRequestDependencies['tokens']['token'] }

function world({ count = async () => ({ count: 1, left_ms: 1 }), token = () => 'token' }: ProxyRequestWorld = {}) {
  let now = 1_000
  const recorded: [reason: string, status: number][] = []
  const health: [ok: boolean, detail: string][] = []
  const failed: string[] = []
  const sinks: ResponseSink[] = []
  const parts: ProxyRequestDependencies = {
    origin: { isTls: false, host: 'up', port: 80, authority: 'up', base: '' },
    upstream: {
      forward(request, sink) {
        if (request.path === '/broken') throw new Error('an internal fault')
        sinks.push(sink)
        return { abort: () => undefined, resume: () => undefined, write: () => true, end: () => undefined }
      },
      counts: () => ({ connections: 0, idle: 0, waiting: 0 }),
      close: () => undefined,
    },
    tokens: { token },
    counter: new WindowCounter(count, 60_000, setImmediate),
    recorder: {
      record(record: { reason: string; status: number }, answer: () => void) {
        recorded.push([record.reason, record.status])
        answer()
      },
      observe: (_: string, { ok, detail }: DependencyObservation) => void health.push([ok, detail]),
    } as unknown as RequestRecorder,
    cache: undefined,
    now: () => now,
    onFault: (error) => void failed.push((error as Error).message),
  }
  const visit = (target: string) => {
    const exchange = fakeExchange(target)
    new ProxyRequest(exchange as unknown as Exchange, config, parts).serve()
    return exchange
  }
  return { visit, recorded, health, failed, sinks, later: (ms: number) => (now += ms) }
}

function fakeExchange(target: string) {
  return {
    ...{
      method: 'GET',
      target,
      rawHeaders: ['host', 'door'],
      peer: '192.0.2.1',
      fault: undefined,
      framing: 0,
      isOver: false,
    },
    answering: undefined as Exchange['answering'],
    answered: [] as number[],
    replyText(status: number) {
      this.answered.push(status)
    },
    begin: () => undefined,
    cut: () => undefined,
  }
}

test('an internal fault after counting ends only that request, and others of the same turn continue', async () => {
  const { visit, failed, sinks } = world()
  const [broken, intact] = [visit('/open/broken'), visit('/open/report')]
  await expect.poll(() => sinks.length).toBe(1)
  expect([broken.answered, intact.answered, failed]).toEqual([[400], [], ['an internal fault']])
})

test.each([
  ['rejects', async () => Promise.reject(new Error('away'))],
  [
    'throws',
    () => {
      throw new Error('away')
    },
  ],
])('a counter that %s admits no request, and no token is requested', async (_, count) => {
  const requested: string[] = []
  const { visit, recorded, sinks } = world({ count, token: () => void requested.push('token') })
  const both = [visit('/open/report'), visit('/open/report')]
  await expect.poll(() => recorded.length).toBe(2)
  expect(recorded).toEqual(Array(2).fill(['counter_unavailable', 503]))
  expect([both.map(({ answered }) => answered), requested, sinks]).toEqual([[[503], [503]], [], []])
})

test('an unexpected failure of the token source is answered', async () => {
  const { visit, recorded, failed, sinks } = world({ token: () => Promise.reject(new Error('an internal fault')) })
  const { answered } = visit('/open/report')
  await expect.poll(() => answered).toEqual([400])
  expect([recorded, failed, sinks]).toEqual([[['malformed', 400]], ['an internal fault'], []])
})

test('nothing is forwarded for a caller that disconnects while its request is counted', async () => {
  const { visit, recorded, sinks } = world()
  visit('/open/report').isOver = true
  await expect.poll(() => recorded).toEqual([['client_left', 0]])
  expect(sinks).toEqual([])
})

test('health of the upstream follows its status, its silence and broken responses', async () => {
  const { visit, health, sinks, later: advance } = world()
  const forwarded = async () => {
    const before = sinks.length
    const exchange = visit('/open/report')
    await expect.poll(() => sinks.length).toBe(before + 1)
    return { exchange, sink: sinks[before] as ResponseSink }
  }
  const fails = async (failure: UpstreamFailure) => (await forwarded()).sink.fail(failure, '')
  await fails('busy')
  expect(health).toEqual([])
  await fails('timeout')
  const earlyDisconnect = await forwarded()
  earlyDisconnect.exchange.answering?.gone()
  const lateDisconnect = await forwarded()
  advance(5_000)
  lateDisconnect.exchange.answering?.gone()
  const cut = await forwarded()
  cut.sink.head(200, [], 10, true)
  cut.sink.fail('closed', '')
  expect(health).toEqual([
    [false, 'upstream_timeout'],
    [false, 'silent until the caller disconnected'],
    [true, 'answered 200'],
    [false, 'upstream_unreachable'],
  ])
})
