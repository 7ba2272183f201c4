// The proxy's own responses and counters, which reveal nothing but the status.
import { describe, expect, test } from 'vitest'
import { compileProxyConfig } from '../config.ts'
import { reasons } from '../reasons.ts'
import { decideRequest } from '../serving/decide-request.ts'
import { settings } from '../settings.ts'
import { buildWriteCounter, listRateCounters } from './rate-counters.ts'
import { buildLocalReply, buildPreflightReply } from './replies.ts'

describe('an answer', () => {
  test('is the same for every reason of its status', () => {
    expect(buildLocalReply(404, '*')).toEqual({
      status: 404,
      headers: [
        ...['content-type', 'application/json', 'access-control-allow-origin', '*'],
        ...['access-control-expose-headers', 'Age, ETag, Retry-After', 'x-content-type-options', 'nosniff'],
      ],
      body: '{"status":404,"title":"Not Found"}',
    })
    expect(buildLocalReply(429, '*', 17).headers.slice(-2)).toEqual(['retry-after', '17'])
  })

  test('has a title for each status of the table', () => {
    const statuses = Object.values(reasons).flatMap(({ status }) => (status === null || status === 204 ? [] : [status]))
    for (const status of new Set(statuses)) expect(buildLocalReply(status, '*').body).not.toContain('Error')
  })

  test('to a denial by path, rule or method is a plain 404', () => {
    const hidden = [
      'no_rule',
      'method',
      'outside_prefix',
      'encoded_slash',
      'dot_id',
      'fragment',
      'not_origin_form',
    ] as const
    expect(hidden.map((reason) => reasons[reason].status)).toEqual(hidden.map(() => 404))
    expect(Object.values(reasons).filter(({ verdict }) => verdict === 'method_not_allowed')).toHaveLength(1)
  })
})

describe('a preflight', () => {
  const allowedHeaders = (headers: string) =>
    buildPreflightReply(['Access-Control-Request-Headers', headers], '*', false).headers

  test('allows the methods of the interface, and the requested headers', () => {
    expect(buildPreflightReply([], 'https://city.example', true)).toEqual({
      status: 204,
      headers: [
        ...['access-control-allow-origin', 'https://city.example'],
        ...['access-control-allow-methods', 'GET, HEAD, OPTIONS, POST', 'access-control-max-age', '600'],
        ...['vary', 'Access-Control-Request-Headers'],
      ],
      body: '',
    })
    expect(allowedHeaders('content-type, X-A').slice(-2)).toEqual(['access-control-allow-headers', 'content-type, X-A'])
    expect(allowedHeaders('x').slice(2, 4)).toEqual(['access-control-allow-methods', 'GET, HEAD, OPTIONS'])
  })

  test.each(['', ',', 'a b', 'a,,b', 'a\r\nx: y', 'é', '"a"', 'a'.repeat(1_025)])('does not echo %j', (headers) => {
    expect(allowedHeaders(headers)).not.toContain('access-control-allow-headers')
  })
})

describe('the counters', () => {
  const config = compileProxyConfig(settings.schema.parse({ allowlist: 'GET /a\nGET /b limit=3\nPOST /c' }))
  const decide = (method: string, path: string) =>
    decideRequest(
      { method, target: `/public-api${path}`, headers: ['x-forwarded-for', '203.0.113.7'], peer: '' },
      config,
    )

  test('have the keys and limits of the interface', () => {
    expect(listRateCounters(decide('GET', '/a'), config)).toEqual([
      { key: 'proxy:rl:203.0.113.7', limit: 60, reason: 'rate_limited' },
    ])
    expect(buildWriteCounter(decide('POST', '/c'), config)).toEqual({
      key: 'proxy:rl:w:203.0.113.7',
      limit: 10,
      reason: 'write_rate_limited',
    })
  })

  test('include a separate one for a rule with a limit', () => {
    expect(listRateCounters(decide('GET', '/b'), config).slice(1)).toEqual([
      { key: 'proxy:rl:rule:GET /b:203.0.113.7', limit: 3, reason: 'rule_rate_limited' },
    ])
  })
})
