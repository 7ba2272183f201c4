// The wait grows with the failures, respects the other end within limits, and is spread.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { computeBackoff_ms } from './backoff.ts'

const chances = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })

describe('the wait after a failure', () => {
  test('grows with the failures from half a second to one minute', () => {
    expect([1, 2, 3, 4, 20].map((failures) => computeBackoff_ms(failures, 0))).toEqual([500, 500, 500, 500, 500])
    expect([1, 2, 3, 7, 20].map((failures) => computeBackoff_ms(failures, 1))).toEqual([
      1_500, 2_500, 4_500, 60_500, 60_500,
    ])
  })

  test('is at least the retry time of the peer, up to one minute', () => {
    expect([0, 5_000, 60_000, 999_999_000].map((requested_ms) => computeBackoff_ms(1, 0, requested_ms))).toEqual([
      500, 5_000, 60_000, 60_000,
    ])
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000 }), chances, fc.nat(), (failures, chance, requested_ms) => {
        const wait = computeBackoff_ms(failures, chance, requested_ms)
        expect(wait).toBeGreaterThanOrEqual(Math.min(60_000, Math.max(500, requested_ms)))
        expect(wait).toBeLessThanOrEqual(120_000)
      }),
    )
  })

  test('is spread over its whole range', () => {
    const waits = Array.from({ length: 10 }, (_, at) => computeBackoff_ms(10, at / 10))
    expect(new Set(waits).size).toBe(10)
  })
})
