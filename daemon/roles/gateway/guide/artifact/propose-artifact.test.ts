// Confidence as models write it: clamped to 0 to 1, and 0.5 where it cannot be read (rule 5 of document 002).
import { expect, test } from 'vitest'
import { readConfidence } from './propose-artifact.ts'

test.each([
  [0.7, 0.7],
  [0, 0],
  [7, 1],
  [-0.1, 0],
  ['0.25', 0.25],
  ['2', 1],
  ['', 0.5],
  ['sure', 0.5],
  [undefined, 0.5],
  [null, 0.5],
  [true, 0.5],
  [[1], 0.5],
  [{}, 0.5],
  [Number.NaN, 0.5],
  [Number.POSITIVE_INFINITY, 0.5],
])('%j is read as %d', (written, read) => {
  expect(readConfidence(written)).toBe(read)
})
