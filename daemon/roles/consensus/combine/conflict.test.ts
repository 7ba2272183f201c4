// Compares the measure of conflict with its pairwise formula.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { buildOpinions, opinionLists, shuffledLists } from '../../../../test/support/consensus/opinions.ts'
import { measureConflict } from './conflict.ts'
import { type Opinion, sortCanonically, weight } from './opinion.ts'

/** decisions.md, word for word: 4 sum(i<j) w_i w_j |s_i - s_j| / (sum w)^2. */
function pairwiseConflict(opinions: readonly Opinion[]): number {
  let sum = 0
  let total = 0
  for (const [at, a] of opinions.entries()) {
    total += weight(a)
    for (const b of opinions.slice(at + 1)) sum += weight(a) * weight(b) * Math.abs(a.pair_score - b.pair_score)
  }
  return (4 * sum) / total ** 2
}

test('equals the sum over all pairs', () => {
  fc.assert(
    fc.property(opinionLists(40), (list) => {
      // Below this the plain formula itself underflows.
      fc.pre(list.some((opinion) => weight(opinion) > 1e-100))
      expect(measureConflict(sortCanonically(list))).toBeCloseTo(pairwiseConflict(list), 9)
    }),
  )
})

test('the order of arrival changes no bit', () => {
  fc.assert(
    fc.property(shuffledLists(), ([list, shuffled]) => {
      expect(measureConflict(sortCanonically(shuffled))).toBe(measureConflict(sortCanonically(list)))
    }),
  )
})

test('two groups of five at .9 and .1 are in conflict at .8', () => {
  const scores = Array.from({ length: 10 }, (_, at) => [at < 5 ? 0.1 : 0.9] as const)
  expect(measureConflict(buildOpinions(...scores))).toBeCloseTo(0.8, 12)
})

test.for([1, 2, 5, 500])('two equal groups of %d at the extremes: 1', (size) => {
  const scores = Array.from({ length: 2 * size }, (_, at) => [at < size ? 0 : 1, 0.3] as const)
  expect(measureConflict(buildOpinions(...scores))).toBeCloseTo(1, 12)
})

test('full agreement is exactly 0, and so are one opinion and no opinion', () => {
  expect(measureConflict(buildOpinions([0.7, 0.3], [0.7, 0.9], [0.7, 1, 0.1]))).toBe(0)
  expect(measureConflict(buildOpinions([0.7]))).toBe(0)
  expect(measureConflict([])).toBe(0)
})
