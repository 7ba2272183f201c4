// Thresholds on examples counted by hand.
import { expect, test } from 'vitest'
import { sweepThresholds } from './threshold-sweep.ts'

const trueClusters = Int32Array.of(0, 0, 2, 2, 2)
const scoredPairs = {
  lefts: Int32Array.of(0, 2, 0, 2),
  rights: Int32Array.of(1, 3, 2, 4),
  scores: Float64Array.of(9, 5, 5, 1),
}

test('pairs with equal scores count together, and absent pairs count as missed', () => {
  const { points, best, recall } = sweepThresholds(scoredPairs, trueClusters)
  expect(points.map(({ threshold, pairs }) => [threshold, pairs])).toEqual([
    [9, 1],
    [5, 3],
    [1, 4],
  ])
  expect(points.map(({ precision, recall }) => [precision, recall])).toEqual([
    [1, 1 / 4],
    [2 / 3, 2 / 4],
    [3 / 4, 3 / 4],
  ])
  expect(best).toBe(points[2])
  expect(recall).toBe(3 / 4)
})

test('many thresholds are thinned, and the first, the last and the best stay', () => {
  const count = 1_000
  const many = {
    lefts: new Int32Array(count),
    rights: Int32Array.from({ length: count }, (_, at) => at + 1),
    scores: Float64Array.from({ length: count }, (_, at) => -at),
  }
  const rows = Int32Array.from({ length: count + 1 }, (_, row) => (row <= 333 ? 0 : row))
  const { points, best } = sweepThresholds(many, rows, 10)
  expect(points).toHaveLength(11)
  expect(best?.threshold).toBe(-332)
  expect([points[0]?.pairs, points.at(-1)?.pairs]).toEqual([1, count])
})

test('without pairs there is no best threshold', () => {
  const emptyPairs = { lefts: new Int32Array(0), rights: new Int32Array(0), scores: new Float64Array(0) }
  expect(sweepThresholds(emptyPairs, trueClusters)).toEqual({ points: [], best: undefined, recall: 0 })
})
