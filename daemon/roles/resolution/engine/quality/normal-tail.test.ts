// The share below zero is found from the values above zero alone.
import { describe, expect, test } from 'vitest'
import { createRandom } from '../random.ts'
import { computeNormalShareBelow, estimateShareBelowZero } from './normal-tail.ts'

describe('the share of the standard normal distribution below', () => {
  test.each([
    [-3, 0.0013499],
    [-1, 0.1586553],
    [0, 0.5],
    [0.5, 0.6914625],
    [2, 0.9772499],
  ])('%d', (value, share) => expect(computeNormalShareBelow(value)).toBeCloseTo(share, 6))
})

test.each([
  [8, 3],
  [4, 4],
  [3, 5],
])('the share below zero of a normal distribution of mean %d and deviation %d', (mean, deviation) => {
  const random = createRandom(7)
  const sums = { count: 0, sum: 0, squares: 0 }
  for (let draw = 0; draw < 5_000; draw++) {
    const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
    const value = mean + deviation * normal
    if (value <= 0) continue
    sums.count++
    sums.sum += value
    sums.squares += value * value
  }
  expect(estimateShareBelowZero(sums)).toBeCloseTo(computeNormalShareBelow(-mean / deviation), 1)
})

test('no values: nothing lies below zero', () => {
  expect(estimateShareBelowZero({ count: 0, sum: 0, squares: 0 })).toBe(0)
})
