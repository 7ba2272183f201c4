// Measures on examples counted by hand.
import { expect, test } from 'vitest'
import { measureBCubed, measurePairs } from './evaluate.ts'

const foundClusters = Int32Array.of(0, 0, 0, 3, 3)
const trueClusters = Int32Array.of(7, 7, 8, 8, 8)

test('pairs: 2 of 4 found are true, 2 of 4 true are found', () => {
  expect(measurePairs(foundClusters, trueClusters)).toEqual({ precision: 0.5, recall: 0.5, f1: 0.5 })
})

test("B-cubed: the share of each record's cluster that is common to both", () => {
  const { precision, recall } = measureBCubed(foundClusters, trueClusters)
  expect(precision).toBeCloseTo((2 / 3 + 2 / 3 + 1 / 3 + 1 + 1) / 5, 12)
  expect(recall).toBeCloseTo((1 + 1 + 1 / 3 + 2 / 3 + 2 / 3) / 5, 12)
})

test('without found and true pairs all measures are 0', () => {
  expect(measurePairs(Int32Array.of(0, 1), Int32Array.of(0, 1))).toEqual({ precision: 0, recall: 0, f1: 0 })
})
