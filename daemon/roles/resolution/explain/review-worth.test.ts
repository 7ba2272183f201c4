// Review worth is highest at even odds and 0 at certainty; at equal odds, a larger effect is worth more.
import { expect, test } from 'vitest'
import { computeBinaryEntropy, computeReviewWorth, countAffectedPairs, likenessToProbability } from './review-worth.ts'

const twoSingletons = { linked: false, left_size: 1, right_size: 1 }

test('even odds have an entropy of one bit, certainty of 0, and the function is symmetric', () => {
  expect(computeBinaryEntropy(0.5)).toBe(1)
  expect([computeBinaryEntropy(0), computeBinaryEntropy(1)]).toEqual([0, 0])
  expect(computeBinaryEntropy(0.2)).toBeCloseTo(computeBinaryEntropy(0.8), 12)
  // -.25 log2 .25 - .75 log2 .75
  expect(computeBinaryEntropy(0.25)).toBeCloseTo(0.811_278_124_459_132_8, 12)
})

test('a confirm affects every cross pair; a reject separates at least one record from the others', () => {
  expect(countAffectedPairs({ linked: false, left_size: 3, right_size: 4 })).toBe(12)
  expect(countAffectedPairs({ linked: true, left_size: 5, right_size: 5 })).toBe(4)
  expect(countAffectedPairs({ linked: true, left_size: 2, right_size: 2 })).toBe(1)
})

test('at equal odds a larger effect is worth more; a certain match is worth nothing', () => {
  expect(computeReviewWorth(0.5, twoSingletons)).toBe(1)
  expect(computeReviewWorth(0.5, { ...twoSingletons, left_size: 3 })).toBe(2)
  expect(computeReviewWorth(0.9, { ...twoSingletons, left_size: 3 })).toBeLessThan(1)
  expect(computeReviewWorth(1, { linked: true, left_size: 1_000, right_size: 1_000 })).toBe(0)
})

test('a text similarity is worth most at the threshold, less on either side, and nothing far away', () => {
  expect(computeReviewWorth(likenessToProbability(0), twoSingletons)).toBe(1)
  // A similarity of .04 is one nat: 1 / (1 + 1 / e)
  expect(likenessToProbability(0.04)).toBeCloseTo(0.731_058_578_630_004_9, 12)
  const worths = [0, 0.02, 0.08, 0.2].map((above) => computeReviewWorth(likenessToProbability(above), twoSingletons))
  expect(worths).toEqual(worths.toSorted((a, b) => b - a))
  expect(computeReviewWorth(likenessToProbability(-0.08), twoSingletons)).toBeCloseTo(
    computeReviewWorth(likenessToProbability(0.08), twoSingletons),
    12,
  )
  expect(computeReviewWorth(likenessToProbability(0.6), twoSingletons)).toBeLessThan(0.05)
})
