// What a caller sees of an upstream's headers.
import { describe, expect, test } from 'vitest'
import { responseHeaders } from './headers.ts'

const exposed = ['access-control-expose-headers', 'Age, ETag, Retry-After', 'x-content-type-options', 'nosniff']
const own = ['access-control-allow-origin', '*', ...exposed]
const relayed = (...raw: string[]) => responseHeaders(raw, '*')

describe('relayed', () => {
  test('is what says what the answer is, as it came, repeated or not', () => {
    const raw = ['content-type', 'a/b', 'ETag', '"e"', 'Location', 'http://internal/', 'X-Total', '1', 'X-Total', '2']
    expect(relayed(...raw)).toEqual([
      ...['content-type', 'a/b', 'etag', '"e"', 'location', 'http://internal/', 'x-total', '1', 'x-total', '2', ...own],
    ])
  })

  test.each([
    ...[
      'Server',
      'X-Powered-By',
      'X-Internal-Host',
      'x-internal-',
      'X-INTERNAL-A',
      'Via',
      'X-Envoy-Upstream',
      'X-Accel-Redirect',
    ],
    ...[
      'Connection',
      'Keep-Alive',
      'Transfer-Encoding',
      'Upgrade',
      'Trailer',
      'TE',
      'Proxy-Authenticate',
      'Proxy-Connection',
    ],
    ...[
      'Set-Cookie',
      'WWW-Authenticate',
      'Clear-Site-Data',
      'Alt-Svc',
      'Strict-Transport-Security',
      'X-Forwarded-Host',
    ],
    ...['NEL', 'Report-To', 'Reporting-Endpoints', 'Accept-CH', 'Critical-CH', 'Access-Control-Expose-Headers'],
    ...['Access-Control-Allow-Origin', 'Access-Control-Allow-Credentials', 'X-Content-Type-Options'],
  ])('never is %s', (name) => {
    expect(relayed(name, 'secret')).toEqual(own)
  })

  test('is nothing that Connection names; our own headers stay, and framing is the writer’s', () => {
    const raw = [
      'X-Secret',
      '1',
      'Connection',
      'close, X-Secret',
      'Content-Length',
      '2',
      'connection',
      'Content-Length,X-Content-Type-Options, Access-Control-Expose-Headers',
    ]
    expect(relayed(...raw)).toEqual(own)
  })

  test('is one origin for all', () => {
    expect(responseHeaders([], 'https://city.example')).toEqual([
      ...['access-control-allow-origin', 'https://city.example', ...exposed],
    ])
  })
})
