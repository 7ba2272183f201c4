// Headers of a request that are forwarded.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { buildUpstreamHeaders, reachesUpstream, readRequestHeaders } from './headers.ts'

const allowedHeaders = (...raw: string[]) => readRequestHeaders(raw).allowed

describe('kept', () => {
  test('are those of the list, in any case, written in lower case', () => {
    expect(
      allowedHeaders('Accept', 'a/b', 'ACCEPT-LANGUAGE', 'sk', 'iF-nOnE-mAtCh', '"e"', 'Content-Type', 'text/plain'),
    ).toEqual([...['accept', 'a/b', 'accept-language', 'sk', 'if-none-match', '"e"', 'content-type', 'text/plain']])
  })

  test.each([
    ...[
      'Authorization',
      'AUTHORIZATION',
      'Cookie',
      'Proxy-Authorization',
      'X-Forwarded-For',
      'X-Forwarded-Host',
      'Forwarded',
    ],
    ...[
      'X-HTTP-Method-Override',
      'X-Original-URL',
      'X-Real-IP',
      'Host',
      'Content-Length',
      'Transfer-Encoding',
      'TE',
      'Upgrade',
    ],
    ...[
      'HTTP2-Settings',
      'Expect',
      'Origin',
      'Referer',
      'User-Agent',
      'X-Request-Id',
      'X-Foo',
      'HTTP_AUTHORIZATION',
      'Trailer',
    ],
    ...['', 'accept ', ' accept', 'accept\0', 'accept_language', 'tracestate', '__proto__', 'constructor'],
  ])('never include %j', (name) => {
    expect(allowedHeaders(name, 'v')).toEqual([])
  })

  test('join repeated lists to one header', () => {
    expect(allowedHeaders('Accept', 'a/a', 'accept', 'b/b', 'ACCEPT', 'c/c')).toEqual(['accept', 'a/a, b/b, c/c'])
    expect(readRequestHeaders(['Range', 'bytes=0-1', 'range', 'bytes=2-3']).fault).toBe('duplicate_header')
    expect(readRequestHeaders(['Content-Type', 'a/a', 'content-type', 'a/a']).fault).toBe('duplicate_header')
    expect(readRequestHeaders(['Host', 'a', 'Host', 'b']).fault).toBe('duplicate_header')
    expect(readRequestHeaders(['X-Foo', 'a', 'X-Foo', 'b']).fault).toBeUndefined()
  })

  test('are printable ASCII', () => {
    expect(readRequestHeaders(['Accept', 'a\x80']).fault).toBe('header_character')
    expect(readRequestHeaders(['If-Range', 'a\rb']).fault).toBe('header_character')
    expect(readRequestHeaders(['Accept-Encoding', 'g\0']).fault).toBe('header_character')
    expect(readRequestHeaders(['X-Foo', 'a\x80', 'Accept', 'a\tb']).fault).toBeUndefined()
  })

  test('exclude headers named by Connection, but none that the proxy itself evaluates', () => {
    const { allowed, accept_encoding, forwarded_for, hasBody } = readRequestHeaders([
      ...['Connection', 'close, Accept, x-forwarded-for', 'Accept', 'a/a', 'Range', 'bytes=0-'],
      ...['CONNECTION', 'Accept-Encoding,content-length,Host', 'Accept-Encoding', 'br', 'X-Forwarded-For', '1.2.3.4'],
      ...['Content-Length', '5'],
    ])
    expect({ kept: allowed, accept_encoding, forwarded: forwarded_for, hasBody }).toEqual({
      kept: ['range', 'bytes=0-'],
      accept_encoding: '',
      forwarded: '1.2.3.4',
      hasBody: true,
    })
    expect(allowed).not.toContain('a/a')
  })

  test('include well-formed traces', () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    expect(allowedHeaders('Traceparent', traceparent)).toEqual(['traceparent', `${traceparent.slice(0, -2)}00`])
    for (const bad of [
      'x',
      traceparent.toUpperCase(),
      `${traceparent}-x`,
      `00-${'0'.repeat(32)}-b7ad6b7169203331-01`,
      `${traceparent}\n`,
    ]) {
      expect(allowedHeaders('traceparent', bad)).toEqual([])
    }
  })

  test('are only those of the list, for any input', () => {
    const list = [
      'accept',
      'accept-language',
      'content-type',
      'content-language',
      'content-encoding',
      'range',
      'traceparent',
    ]
    const all = new Set([...list, 'if-none-match', 'if-match', 'if-modified-since', 'if-unmodified-since', 'if-range'])
    const names = fc.oneof(
      fc.constantFrom(...all, 'connection', 'host', 'authorization'),
      fc.string({ unit: 'binary' }),
    )
    fc.assert(
      fc.property(fc.array(fc.tuple(names, fc.string({ unit: 'binary' }))), (fields) => {
        const names = readRequestHeaders(fields.flat()).allowed.filter((_, at) => at % 2 === 0)
        expect(names.every((name) => all.has(name))).toBe(true)
        expect(new Set(names).size).toBe(names.length)
      }),
    )
  })
})

describe('the body', () => {
  test.each([
    [['Content-Length', '5'], true],
    [['Transfer-Encoding', 'chunked'], true],
    [['Content-Length', '0'], false],
    [['Content-Length', '000'], false],
    [[], false],
  ])('of %j is announced: %s', (raw, hasBody) => {
    expect(readRequestHeaders(raw)).toMatchObject({ hasBody, fault: undefined })
  })

  test.each([
    [['Content-Length', '5', 'Transfer-Encoding', 'chunked']],
    [['Transfer-Encoding', 'chunked', 'Content-Length', '0']],
    [['Transfer-Encoding', 'identity']],
    [['Transfer-Encoding', 'gzip, chunked']],
    [['Transfer-Encoding', 'chunked', 'Transfer-Encoding', 'identity']],
    [['Content-Length', '5, 5']],
    [['Content-Length', '+5']],
    [['Content-Length', '0x5']],
    [['Content-Length', '5.0']],
    [['Content-Length', '1e1']],
    [['Content-Length', '']],
    [['Content-Length', '18446744073709551621']],
    [['Content_Length', '5']],
    [['transfer_encoding', 'chunked']],
  ])('of %j is ambiguous', (raw) => {
    expect(readRequestHeaders(raw).fault).toBe('framing')
  })
})

test('every X-Forwarded-For is read, in order', () => {
  expect(readRequestHeaders(['X-Forwarded-For', 'a', 'x-forwarded-for', 'b, c']).forwarded_for).toBe('a,b, c')
})

test('the upstream receives its own host, the token, the source, and the forwarded headers', () => {
  const from = { address: '203.0.113.7', key: '203.0.113.7', from: 'forwarded' } as const
  expect(buildUpstreamHeaders(['accept', 'a/a'], 'up.example:8443', from, 'secret')).toEqual([
    ...['host', 'up.example:8443', 'authorization', 'Bearer secret', 'x-forwarded-for', '203.0.113.7', 'accept', 'a/a'],
  ])
})

test('exactly the headers that reach the upstream may differ between callers', () => {
  expect(['accept', 'accept-language', 'range', 'x-forwarded-for'].every(reachesUpstream)).toBe(true)
  expect(['accept-encoding', 'origin', 'cookie', 'authorization', 'host', 'constructor'].some(reachesUpstream)).toBe(
    false,
  )
})
