// Replay of an access log against the rules of the proxy.
import { expect, test } from 'vitest'
import { compileProxyConfig } from '../config.ts'
import { settings } from '../settings.ts'
import { simulator } from './simulator.ts'

const config = compileProxyConfig(
  settings.schema.parse({
    allowlist: 'GET /report\nGET /report/{id} limit=2\nPOST /feedback\nGET /unused',
    trusted_proxy_depth: 2,
    rate_limit_per_min: 5,
    write_rate_limit_per_min: 1,
  }),
)

const line = (second: number, request: string, status = 200, source = '203.0.113.7') =>
  `${source} - - [01/Jan/2026:00:${String(Math.floor(second / 60)).padStart(2, '0')}:${String(second % 60).padStart(2, '0')} +0000] "${request} HTTP/1.1" ${status} 1`

const simulationOf = (lines: readonly string[], top = 10) => {
  const simulation = simulator(config)
  for (const each of lines) simulation.take(each)
  return simulation.result(top)
}

test('requests are counted by rule and by reason, the most frequent first', () => {
  expect(
    simulationOf([
      line(0, 'GET /public-api/report'),
      line(1, 'GET /public-api/report/1'),
      line(2, 'GET /public-api/admin', 403, '198.51.100.1'),
      line(3, 'GET /public-api/admin?x=1', 200, '198.51.100.1'),
      line(4, 'DELETE /public-api/report', 200, '198.51.100.1'),
      line(5, 'OPTIONS /public-api/report'),
      'no request',
      '',
    ]),
  ).toEqual({
    requests: 6,
    unread: 1,
    forwarded: 2,
    preflights: 1,
    would_break: 2,
    denied: [
      { reason: 'no_rule', count: 2 },
      { reason: 'method', count: 1 },
    ],
    top_denied: [
      { method: 'GET', path: '/admin', reason: 'no_rule', count: 2 },
      { method: 'DELETE', path: '/report', reason: 'method', count: 1 },
    ],
    rules: [
      { rule: 'GET /report', count: 1 },
      { rule: 'GET /report/{id}', count: 1 },
      { rule: 'POST /feedback', count: 0 },
      { rule: 'GET /unused', count: 0 },
    ],
  })
})

test('limits count per source by the times of the log, in windows from the first request', () => {
  const six = [0, 10, 20, 30, 40, 59].map((second) => line(second, 'GET /public-api/report'))
  expect(simulationOf(six)).toMatchObject({ forwarded: 5, denied: [{ reason: 'rate_limited', count: 1 }] })
  expect(simulationOf([...six, line(60, 'GET /public-api/report')])).toMatchObject({ forwarded: 6 })
  expect(simulationOf([...six.slice(1), line(1, 'GET /public-api/report', 200, '198.51.100.1')])).toMatchObject({
    denied: [],
  })
})

test('rules and writes have separate limits', () => {
  const reads = [0, 1, 2].map((second) => line(second, 'GET /public-api/report/1'))
  const writes = [3, 4].map((second) => line(second, 'POST /public-api/feedback'))
  expect(simulationOf([...reads, ...writes]).denied).toEqual([
    { reason: 'rule_rate_limited', count: 1 },
    { reason: 'write_rate_limited', count: 1 },
  ])
})

test('the list of denials is limited', () => {
  const lines = Array.from({ length: 20 }, (_, at) => line(0, `GET /public-api/x${at}`))
  expect(simulationOf(lines, 3).top_denied).toHaveLength(3)
})
