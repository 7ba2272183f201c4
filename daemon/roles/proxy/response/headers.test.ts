// Headers of the upstream that reach the caller.
import { describe, expect, test } from 'vitest'
import { removeHopHeaders } from '../../../kernel/forward/hop-headers.ts'
import { cleanResponseHeaders } from './headers.ts'

const exposedHeaders = ['access-control-expose-headers', 'Age, ETag, Retry-After', 'x-content-type-options', 'nosniff']
const ownHeaderList = ['access-control-allow-origin', '*', ...exposedHeaders]
const cleaned = (...raw: string[]) => cleanResponseHeaders(removeHopHeaders(raw), '*')

describe('relayed', () => {
  test('includes headers that describe the response, unchanged, repeated or not', () => {
    const raw = ['content-type', 'a/b', 'ETag', '"e"', 'Location', 'http://internal/', 'X-Total', '1', 'X-Total', '2']
    expect(cleaned(...raw)).toEqual([
      ...[
        'content-type',
        'a/b',
        'etag',
        '"e"',
        'location',
        'http://internal/',
        'x-total',
        '1',
        'x-total',
        '2',
        ...ownHeaderList,
      ],
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
  ])('never includes %s', (name) => {
    expect(cleaned(name, 'secret')).toEqual(ownHeaderList)
  })

  test('excludes headers named by Connection and framing; the proxy’s own headers stay', () => {
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
    expect(cleaned(...raw)).toEqual(ownHeaderList)
  })

  test('allows one configured origin for all callers', () => {
    expect(cleanResponseHeaders([], 'https://city.example')).toEqual([
      ...['access-control-allow-origin', 'https://city.example', ...exposedHeaders],
    ])
  })
})
