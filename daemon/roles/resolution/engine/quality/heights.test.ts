// From where the height of a score is measured: from the cut, unless the cut is too low to be evidence.
import { expect, test } from 'vitest'
import { createHeightReader, type ScoredResult } from './heights.ts'

function measureHeight(score: number, result: Pick<ScoredResult, 'reason' | 'scale' | 'cut'>): number {
  const compared = { length: 1, lefts: Int32Array.of(0), rights: Int32Array.of(1) }
  const rest = { route: 'links', clusters: Int32Array.of(0, 0), compared } as const
  return createHeightReader({ ...rest, ...result, scores: Float64Array.of(score) })(0)
}

test.each([
  ['a cut that the data set', { reason: 'single_matches', scale: 'log_odds', cut: 1 }, 3, 2],
  // Amazon and Google in one table: 94 % of the records are linked, and 27 % of the links are right.
  [
    'the lowest cut that is evidence, where every link passes',
    { reason: 'single_matches', scale: 'log_odds', cut: -24 },
    -2,
    0,
  ],
  ['even odds, below a cut that the lens sets', { reason: 'lens', scale: 'log_odds', cut: -24 }, -2, -2],
  ['a cut that the lens sets', { reason: 'lens', scale: 'log_odds', cut: -1 }, -2, -1],
  ['a cut of likeness', { reason: 'clean_sources', scale: 'likeness', cut: 0.25 }, 0.33, 2],
] as const)('heights are measured from %s', (_, result, score, height) => {
  expect(measureHeight(score, result)).toBeCloseTo(height)
})
