// Responses that may be cached, and for how long.
import { describe, expect, test } from 'vitest'
import { compileProxyConfig } from '../config.ts'
import { decideRequest } from '../serving/decide-request.ts'
import { settings } from '../settings.ts'
import { cacheKey, computeCacheLifetime } from './cache-lifetime.ts'

const config = compileProxyConfig(
  settings.schema.parse({
    allowlist: 'GET /a\nHEAD /a\nGET /short cache=5\nGET /never cache=0\nGET /long cache=9000\nPOST /a',
    cache_max_mb: 1,
    cache_ttl_s: 60,
  }),
)
const now = Date.UTC(2026, 0, 1)
const decide = (method: string, path: string, use = config) =>
  decideRequest({ method, target: `/public-api${path}`, headers: [], peer: '127.0.0.1' }, use)
const cachedSeconds = (raw: readonly string[], path = '/a', status = 200, method = 'GET') =>
  computeCacheLifetime(decide(method, path), config, status, raw, now) / 1_000

describe('the lifetime is the minimum', () => {
  test.each([
    [[], '/a', 60],
    [[], '/short', 5],
    [[], '/never', 0],
    [[], '/long', 60],
    [['Cache-Control', 'max-age=30'], '/a', 30],
    [['Cache-Control', 'public, MAX-AGE=600'], '/a', 60],
    [['Cache-Control', 'max-age=600, s-maxage=20'], '/a', 20],
    [['Cache-Control', 'max-age=20, s-maxage=600'], '/a', 60],
    [['Cache-Control', 'max-age="10"'], '/a', 10],
    [['Cache-Control', 'max-age=30', 'cache-control', 'max-age=7'], '/a', 7],
    [['Cache-Control', 'max-age=30', 'Age', '12'], '/a', 18],
    [['Expires', 'Thu, 01 Jan 2026 00:00:40 GMT'], '/a', 40],
    [['Expires', 'Thu, 01 Jan 2026 00:00:40 GMT', 'Date', 'Thu, 01 Jan 2026 00:00:30 GMT'], '/a', 10],
    [['Cache-Control', 'max-age=50', 'Expires', '0'], '/a', 50],
    [['Cache-Control', 'max-age=3'], '/short', 3],
  ])('%j on %s: %i s', (raw, path, expected) => {
    expect(cachedSeconds(raw, path)).toBe(expected)
  })
})

describe('never kept', () => {
  test.each([
    [['Set-Cookie', 'a=b']],
    [['Cache-Control', 'no-store']],
    [['Cache-Control', 'max-age=60, Private']],
    [['Cache-Control', 'private="x-a"']],
    [['Cache-Control', 'no-cache']],
    [['Cache-Control', 'max-age=0']],
    [['Cache-Control', 'max-age=-1']],
    [['Cache-Control', 'max-age=x']],
    [['Cache-Control', 'max-age=30', 'Age', '30']],
    [['Cache-Control', 'max-age=30', 'Age', 'x']],
    [['Expires', '0']],
    [['Expires', 'Wed, 31 Dec 2025 23:59:00 GMT']],
    [['Vary', '*']],
    [['Vary', 'If-None-Match']],
    [['Vary', 'Accept, Range']],
    [['vary', 'origin', 'Vary', 'range']],
    [['Vary', 'X-Forwarded-For']],
    [['Content-Encoding', 'gzip']],
    [['Content-Range', 'bytes 0-1/2']],
  ])('with %j', (raw) => {
    expect(cachedSeconds(raw)).toBe(0)
  })

  test.each([100, 206, 301, 304, 401, 404, 500])('with status %i', (status) => {
    expect(cachedSeconds([], '/a', status)).toBe(0)
  })

  test('for POST, nor without a cache', () => {
    expect(cachedSeconds([], '/a', 200, 'POST')).toBe(0)
    expect(cachedSeconds([], '/a', 200, 'HEAD')).toBe(60)
    const withoutCache = { ...config, cache_max_bytes: 0 }
    expect(computeCacheLifetime(decide('GET', '/a', withoutCache), withoutCache, 200, [], now)).toBe(0)
  })
})

test('Vary on headers that are in the key, or never reach the upstream, does not matter', () => {
  expect(cachedSeconds(['Vary', 'Accept-Language, accept'])).toBe(60)
  expect(cachedSeconds(['Vary', 'Origin, Accept-Encoding, Cookie', 'Content-Encoding', 'identity'])).toBe(60)
})

test('the key is method, normal form and query, to the byte', () => {
  expect(cacheKey('GET', decide('GET', '/./%61?b=%61'))).toBe('GET /a?b=%61')
  const keys = ['/a', '/a?', '/a?b', '/a?B', '/a?b&c', '/a?c&b'].map((path) => cacheKey('GET', decide('GET', path)))
  expect(new Set([...keys, cacheKey('HEAD', decide('HEAD', '/a'))]).size).toBe(7)
})

test('the key holds each forwarded header by which the upstream may choose an answer, in any order', () => {
  const keyOf = (...headers: string[]) =>
    cacheKey('GET', decideRequest({ method: 'GET', target: '/public-api/a', headers, peer: '127.0.0.1' }, config))
  expect(keyOf('Accept-Language', 'de', 'ACCEPT', 'text/plain')).toBe('GET /a\naccept: text/plain\naccept-language: de')
  expect(keyOf('accept', 'text/plain', 'accept-language', 'de')).toBe(
    keyOf('Accept-Language', 'de', 'Accept', 'text/plain'),
  )
  const keys = [
    keyOf(),
    keyOf('Accept', ''),
    keyOf('Accept', 'a/b'),
    keyOf('Accept', 'a/b', 'Accept', 'c/d'),
    keyOf('Accept', 'accept-language', 'Accept-Language', 'de'),
    keyOf('Accept-Language', 'accept', 'Accept', 'de'),
    keyOf('Accept-Language', 'de'),
    keyOf('Content-Type', 'a/b'),
    keyOf('Content-Language', 'de'),
    keyOf('Content-Encoding', 'br'),
  ]
  expect(new Set(keys).size).toBe(keys.length)
  expect(keyOf('Accept-Encoding', 'gzip', 'Cookie', 'a=b', 'User-Agent', 'x', 'If-None-Match', '"1"')).toBe(keyOf())
})

test('a cacheable response is requested in one encoding', () => {
  const head = { method: 'GET', target: '/public-api/a', headers: ['Accept-Encoding', 'gzip, br'], peer: '127.0.0.1' }
  expect(decideRequest(head, config).headers).toEqual(['accept-encoding', 'identity'])
  expect(decideRequest({ ...head, target: '/public-api/never' }, config).headers).toEqual([
    'accept-encoding',
    'gzip, br',
  ])
  expect(decideRequest({ ...head, headers: [] }, { ...config, cache_max_bytes: 0 }).headers).toEqual([])
})
