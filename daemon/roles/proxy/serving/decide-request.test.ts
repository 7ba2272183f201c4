// The pure steps in order: the decision of each, and that an earlier step decides first.
import { describe, expect, test } from 'vitest'
import { compileProxyConfig } from '../config.ts'
import type { RequestHead } from '../request/request-decision.ts'
import { settings } from '../settings.ts'
import { decideRequest } from './decide-request.ts'

const config = compileProxyConfig(
  settings.schema.parse({
    allowlist: 'GET /report\nGET /report/{id} limit=5\nPOST /feedback',
    trusted_proxy_depth: 1,
    max_target_bytes: 256,
  }),
)

const decide = (method: string, target: string, headers: readonly string[] = [], peer = '10.0.0.1') =>
  decideRequest({ method, target, headers, peer } satisfies RequestHead, config)

describe('an admitted request', () => {
  test('is a read or a write, with its rule, normal form, query and headers', () => {
    expect(decide('GET', '/public-api/./report/%34%32?a=%20', ['Accept', 'a/b', 'Cookie', 'c'])).toEqual({
      next: 'read',
      step: 'preflight',
      reason: undefined,
      source: { address: '10.0.0.1', key: 'peer:10.0.0.1', from: 'peer' },
      path: '/report/42',
      query: '?a=%20',
      rule: expect.objectContaining({ name: 'GET /report/{id}', limit: 5 }),
      headers: ['accept', 'a/b'],
      isCacheable: false,
    })
    expect(decide('POST', '/public-api/feedback', ['Content-Length', '5'])).toMatchObject({ next: 'write' })
  })

  test('is a preflight of any path, answered alike with a rule and without', () => {
    for (const path of ['/report', '/feedback', '/other', '/'])
      expect(decide('OPTIONS', `/public-api${path}?a=b`)).toMatchObject({
        ...{ next: 'preflight', reason: undefined, rule: undefined, path, query: '' },
      })
  })

  test('is not a preflight outside the prefix, without a normal form, or with a body', () => {
    expect(decide('OPTIONS', '*')).toMatchObject({ next: 'deny', reason: 'not_origin_form' })
    expect(decide('OPTIONS', '/other')).toMatchObject({ next: 'deny', reason: 'outside_prefix' })
    expect(decide('OPTIONS', '/public-api/a%2Fb')).toMatchObject({ next: 'deny', reason: 'encoded_slash' })
    expect(decide('OPTIONS', '/public-api/report', ['Content-Length', '1'])).toMatchObject({ reason: 'body_on_read' })
    expect(decide('options', '/public-api/report')).toMatchObject({ next: 'deny', reason: 'method' })
  })
})

describe('a denied request', () => {
  test.each([
    ['GET', 'http://evil.example/public-api/report', 'target', 'not_origin_form'],
    ['CONNECT', 'city.example:443', 'target', 'not_origin_form'],
    ['GET', '', 'target', 'not_origin_form'],
    ['GET', `/public-api/report?${'a'.repeat(300)}`, 'target', 'target_too_long'],
    ['GET', '/', 'prefix', 'outside_prefix'],
    ['GET', '/public-api', 'prefix', 'outside_prefix'],
    ['GET', '/public-api?/report', 'prefix', 'outside_prefix'],
    ['GET', '/public-apix/report', 'prefix', 'outside_prefix'],
    ['GET', '/PUBLIC-API/report', 'prefix', 'outside_prefix'],
    ['GET', '/public%2dapi/report', 'prefix', 'outside_prefix'],
    ['GET', '//public-api/report', 'prefix', 'outside_prefix'],
    ['GET', '/./public-api/report', 'prefix', 'outside_prefix'],
    ['GET', '/report', 'prefix', 'outside_prefix'],
    ['GET', '/health', 'prefix', 'outside_prefix'],
    ['GET', '/public-api/../public-api/report', 'path', 'above_root'],
    ['GET', '/public-api/report/%2e%2e', 'path', 'dot_id'],
    ['GET', '/public-api/', 'rule', 'no_rule'],
    ['GET', '/public-api/health', 'rule', 'no_rule'],
    ['GET', '/public-api/report/', 'rule', 'no_rule'],
    ['GET', '/public-api/feedback', 'rule', 'method'],
    ['DELETE', '/public-api/report', 'rule', 'method'],
    ['HEAD', '/public-api/report', 'rule', 'method'],
    ['get', '/public-api/report', 'rule', 'method'],
    ['PUT', '/public-api/other', 'rule', 'no_rule'],
    ['PATCH', '/public-api/report', 'rule', 'method'],
  ])('%s %s at %s: %s', (method, target, step, reason) => {
    expect(decide(method, target)).toMatchObject({
      next: 'deny',
      step,
      reason,
      rule: undefined,
      headers: [],
      query: '',
    })
  })

  test.each([
    [['Content-Length', '5'], 'body_on_read'],
    [['Transfer-Encoding', 'chunked'], 'body_on_read'],
    [['Content-Length', '5', 'Transfer-Encoding', 'chunked'], 'framing'],
    [['Range', 'a', 'Range', 'b'], 'duplicate_header'],
    [['Accept', 'é'], 'header_character'],
  ])('for its headers %j: %s', (headers, reason) => {
    expect(decide('GET', '/public-api/report', headers)).toMatchObject({ next: 'deny', step: 'headers', reason })
    // Without a rule for the path, the response reveals nothing of the headers.
    expect(decide('GET', '/public-api/other', headers)).toMatchObject({ step: 'rule', reason: 'no_rule' })
  })

  test('is recorded with its source, and with its path as received where it has no normal form', () => {
    const from = ['X-Forwarded-For', '203.0.113.7']
    expect(decide('GET', '/public-api/a%2fb?token=secret', from)).toMatchObject({
      path: '/public-api/a%2fb',
      source: { address: '203.0.113.7' },
    })
    expect(decide('GET', '/public-api/./a?token=secret').path).toBe('/a')
    expect(decide('GET', '/public-api/\x1b[2J\xe9 x').path).toBe('/public-api/%1B[2J%E9%20x')
    expect(
      decideRequest({ method: 'GET', target: `/${'a'.repeat(9_999)}`, headers: [], peer: '' }, config).path,
    ).toHaveLength(1_024)
  })
})

test('the prefix may be deep', () => {
  const deep = compileProxyConfig(settings.schema.parse({ allowlist: 'GET /a', public_path_prefix: '/x/public/' }))
  expect(decideRequest({ method: 'GET', target: '/x/public/a', headers: [], peer: '' }, deep).path).toBe('/a')
  expect(decideRequest({ method: 'GET', target: '/x/publi/a', headers: [], peer: '' }, deep).reason).toBe(
    'outside_prefix',
  )
})
