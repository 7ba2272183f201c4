// Published values, and what the tests of rates promise.
import { expect, test } from 'vitest'
import { boundDifference, boundRate, testGreaterRate } from './significance.ts'

test('bounds of a rate: without a trial all is possible; they close with more trials', () => {
  expect(boundRate({ successes: 0, trials: 0 })).toEqual({ low: 0, high: 1 })
  const few = boundRate({ successes: 8, trials: 10 })
  const many = boundRate({ successes: 800, trials: 1_000 })
  // (0.8 + 2.5758^2/20 ± 2.5758 sqrt(0.016 + 2.5758^2/400)) / (1 + 2.5758^2/10)
  expect(few.low).toBeCloseTo(0.4008, 4)
  expect(few.high).toBeCloseTo(0.9599, 4)
  expect(many.low).toBeGreaterThan(0.76)
  expect(many.high).toBeLessThan(0.84)
})

test('the chance of the tea tasting (Fisher 1935): 1/70 for all four, 17/70 for three', () => {
  expect(testGreaterRate({ successes: 4, trials: 4 }, { successes: 0, trials: 4 })).toBeCloseTo(1 / 70, 10)
  expect(testGreaterRate({ successes: 3, trials: 4 }, { successes: 1, trials: 4 })).toBeCloseTo(17 / 70, 10)
})

test('a difference is proven by many trials, and not by few', () => {
  expect(boundDifference({ successes: 9, trials: 10 }, { successes: 7, trials: 10 }).low).toBeLessThan(0)
  expect(boundDifference({ successes: 900, trials: 1_000 }, { successes: 700, trials: 1_000 }).low).toBeGreaterThan(0.1)
  expect(boundDifference({ successes: 2, trials: 20 }, { successes: 18, trials: 20 }).high).toBeLessThan(-0.4)
})
