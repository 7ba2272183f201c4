// The cache stays within its bytes and its times.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { responseCache } from './response-cache.ts'

const answer = (bytes: number, headers: readonly string[] = []) => ({
  status: 200,
  headers,
  body: new Uint8Array(bytes),
})

test('a response is served until its lifetime ends, with its age', () => {
  const cache = responseCache(100_000)
  expect(cache.put('a', answer(10, ['content-type', 'a/b']), 5_000, 1_000)).toBe(true)
  expect(cache.get('a', 3_999)).toEqual({ ...answer(10), headers: ['content-type', 'a/b', 'age', '2'] })
  expect(cache.get('a', 5_999)?.headers).toContain('4')
  expect(cache.get('a', 6_000)).toBeUndefined()
  expect([cache.entries, cache.bytes]).toEqual([0, 0])
})

test('an Age of the upstream is added', () => {
  const cache = responseCache(100_000)
  cache.put('a', answer(1, ['vary', 'age', 'age', '30', 'x', 'y']), 60_000, 0)
  expect(cache.get('a', 2_500)?.headers).toEqual(['vary', 'age', 'x', 'y', 'age', '32'])
})

test('the least recently used response is evicted first', () => {
  const cache = responseCache(8_000)
  for (const key of ['a', 'b', 'c', 'd']) cache.put(key, answer(1_400), 1_000, 0)
  cache.get('a', 1)
  cache.put('e', answer(1_400), 1_000, 2)
  expect(['a', 'b', 'c', 'd', 'e'].map((key) => cache.get(key, 3) !== undefined)).toEqual([
    true,
    false,
    true,
    true,
    true,
  ])
})

test('a newer response replaces the older one, and a response that is too large removes it', () => {
  const cache = responseCache(100_000)
  cache.put('a', answer(1), 1_000, 0)
  cache.put('a', answer(2), 1_000, 0)
  expect([cache.entries, cache.get('a', 1)?.body.byteLength]).toEqual([1, 2])
  expect(cache.put('a', answer(90_000), 1_000, 0)).toBe(false)
  expect(cache.get('a', 1)).toBeUndefined()
})

test('without a budget nothing is cached, and clear removes everything', () => {
  const emptyCache = responseCache(0)
  expect([emptyCache.put('a', answer(0), 1_000, 0), emptyCache.entries, emptyCache.largest_body_bytes]).toEqual([
    false,
    0,
    0,
  ])
  const cache = responseCache(100_000)
  cache.put('a', answer(1), 1_000, 0)
  cache.clear()
  expect([cache.entries, cache.bytes, cache.get('a', 1)]).toEqual([0, 0, undefined])
})

test('the budget is never exceeded, and the sum of bytes is that of the entries, for any operations', () => {
  const puts = fc.array(fc.tuple(fc.integer({ min: 0, max: 9 }), fc.nat(5_000), fc.nat(50)), { maxLength: 60 })
  fc.assert(
    fc.property(puts, (steps) => {
      const cache = responseCache(20_000)
      for (const [at, [key, bytes, life]] of steps.entries()) {
        if (at % 3 === 0) cache.get(String(key), at)
        cache.put(String(key), answer(bytes), life, at)
        expect(cache.bytes).toBeLessThanOrEqual(20_000)
      }
      for (let key = 0; key < 10; key++) cache.get(String(key), 1_000_000)
      expect([cache.bytes, cache.entries]).toEqual([0, 0])
    }),
  )
})
