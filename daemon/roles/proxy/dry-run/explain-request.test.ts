// Explanations of a request in advance: each step, and the reason for its end.
import { describe, expect, test } from 'vitest'
import { compileProxyConfig } from '../config.ts'
import { settings } from '../settings.ts'
import { explainRequest } from './explain-request.ts'

const config = compileProxyConfig(
  settings.schema.parse({
    allowlist: 'GET /report/{id} limit=5 cache=30\nPOST /feedback',
    trusted_proxy_depth: 1,
    cache_max_mb: 1,
  }),
)

const explained = (method: string, target: string, headers: readonly string[] = ['X-Forwarded-For', '203.0.113.7']) => {
  const { status, steps } = explainRequest({ method, target, headers, peer: '10.0.0.1' }, config)
  return { status, steps: steps.map(({ step, outcome, says }) => `${step} ${outcome}: ${says}`) }
}

describe('a request is explained', () => {
  test('up to the last step when it is forwarded', () => {
    expect(explained('GET', '/public-api/report/42?a=b', ['X-Forwarded-For', '203.0.113.7', 'Accept', 'a/b'])).toEqual({
      status: undefined,
      steps: [
        'source passes: 203.0.113.7, entry 1 from the end of X-Forwarded-For, counted as 203.0.113.7',
        'target passes: begins with a slash, and is not too long',
        'prefix passes: under /public-api',
        'path passes: in normal form /report/42',
        'rule passes: allowed by "GET /report/{id}"',
        'headers passes: forwards accept, accept-encoding and no other',
        'preflight passes: GET is not a preflight',
        'rate depends: 60 in 60 s are served, the next is 429; counted as proxy:rl:203.0.113.7',
        'rate depends: 5 in 60 s are served, the next is 429; counted as proxy:rl:rule:GET /report/{id}:203.0.113.7',
        'cache depends: answered from the cache, without token and upstream, if a response of at most 30 s is cached',
        'token depends: a service token of the limited client; 503 when none can be obtained',
        'forward depends: GET /report/42?a=b, with the service token instead of the caller’s credentials',
      ],
    })
  })

  test('with body and the stricter limit for a write', () => {
    expect(explained('POST', '/public-api/feedback').steps.slice(7, 10)).toEqual([
      'rate depends: 60 in 60 s are served, the next is 429; counted as proxy:rl:203.0.113.7',
      'body depends: read whole; 413 when it is larger than 65536 bytes',
      'write_rate depends: 10 in 60 s are served, the next is 429; counted as proxy:rl:w:203.0.113.7',
    ])
  })

  test('up to the step that stops it, with its reason in audit and metrics', () => {
    const { status, steps } = explained('GET', '/public-api/report/1%2f2', [])
    expect(status).toBe(404)
    expect(steps).toHaveLength(4)
    expect(steps[0]).toBe(
      'source passes: 10.0.0.1, the connection itself, since X-Forwarded-For has no address at position 1 from its end',
    )
    expect(steps[3]).toBe(
      'path stops: The path has an escaped slash, which servers interpret differently. (encoded_slash): 404',
    )
    expect(explained('PUT', '/public-api/feedback').steps.at(-1)).toMatch(/^rule stops: .* \(method\): 404$/)
    expect(explained('GET', '/public-api/report/1', ['Content-Length', '3'])).toMatchObject({ status: 400 })
  })

  test('as a preflight when it is one', () => {
    const { status, steps } = explained('OPTIONS', '/public-api/feedback')
    expect([status, steps.length, steps[4]]).toEqual([204, 7, 'rule passes: OPTIONS needs none'])
    expect(steps.at(-1)).toMatch(/^preflight stops: /)
  })
})
