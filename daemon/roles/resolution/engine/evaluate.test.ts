// Measures on examples that can be counted by hand.
import { expect, test } from 'vitest'
import { bCubed, pairQuality } from './evaluate.ts'

const found = Int32Array.of(0, 0, 0, 3, 3)
const truth = Int32Array.of(7, 7, 8, 8, 8)

test('pairs: 2 of 4 found are true, 2 of 4 true are found', () => {
  expect(pairQuality(found, truth)).toEqual({ precision: 0.5, recall: 0.5, f1: 0.5 })
})

test('B-cubed: what each record has in common with its cluster', () => {
  const { precision, recall } = bCubed(found, truth)
  expect(precision).toBeCloseTo((2 / 3 + 2 / 3 + 1 / 3 + 1 + 1) / 5, 12)
  expect(recall).toBeCloseTo((1 + 1 + 1 / 3 + 2 / 3 + 2 / 3) / 5, 12)
})

test('nothing found and nothing true is no success', () => {
  expect(pairQuality(Int32Array.of(0, 1), Int32Array.of(0, 1))).toEqual({ precision: 0, recall: 0, f1: 0 })
})
