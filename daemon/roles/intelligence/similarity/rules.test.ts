// Similarity follows its table of points, is symmetric, and its points add up to the score.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type ComparableSignal, findReasons, sumPoints } from './rules.ts'

const signal: ComparableSignal = {
  subject: { type: 'asset', id: 'ship-1', name: 'Aurora' },
  signal_type: 'watchlist_hit',
  source: { type: 'polling', name: 'feed-7' },
  title: 'Aurora seen at anchor',
  detected_at: '2026-03-02T12:00:00.000Z',
}
const unrelated = { related: undefined, window_days: 30 }
const pointsOf = (
  other: Partial<ComparableSignal>,
  setting: { related: string | undefined; window_days: number } = unrelated,
) => findReasons(signal, { ...signal, ...other }, setting).map(({ reason, points }) => [reason, points])

test('an equal signal has all points except those for being related', () => {
  const reasons = findReasons(signal, signal, { ...unrelated, related: 'named by sig_1' })
  expect(sumPoints(reasons)).toBe(100)
  expect(reasons.map(({ reason }) => reason)).toEqual([
    ...['same_subject', 'same_type', 'same_source', 'words', 'near_in_time'],
  ])
})

test('each reason is independent of the others, with its detail', () => {
  const other: ComparableSignal = {
    subject: { type: 'asset', id: 'ship-2', name: 'Borea' },
    signal_type: 'other',
    source: { type: 'manual' },
    title: 'nothing',
    detected_at: '2025-03-02T12:00:00.000Z',
  }
  expect(findReasons(signal, other, unrelated)).toEqual([])
  const words = { title: 'AURORA at ﬁrst', description: 'anchor, seen' }
  expect(findReasons(signal, { ...other, ...words }, unrelated)).toEqual([
    // Of aurora, seen, anchor and first three are in both; words of two letters are ignored.
    { reason: 'words', points: 15, detail: 'anchor aurora seen' },
  ])
  expect(findReasons(signal, other, { ...unrelated, related: 'in ins_1' })).toEqual([
    { reason: 'related', points: 20, detail: 'in ins_1' },
  ])
  const twoDays = { ...other, detected_at: '2026-03-04T12:00:00.000Z' }
  expect(findReasons(signal, twoDays, { ...unrelated, window_days: 4 })).toEqual([
    { reason: 'near_in_time', points: 5, detail: '2 days apart' },
  ])
})

test('sources without a name do not count as the same', () => {
  const manual = { ...signal, source: { type: 'manual' as const } }
  expect(findReasons(manual, manual, unrelated).map(({ reason }) => reason)).not.toContain('same_source')
  expect(pointsOf({ source: { type: 'webhook', name: 'feed-7' } })).not.toContainEqual(['same_source', 15])
})

const text = fc.array(fc.constantFrom('aurora', 'borea', 'anchor', 'at', 'sea', 'port', 'ÅLAND'), { maxLength: 8 })
const comparableSignal = fc.record({
  subject: fc.constantFrom('a', 'b').map((id) => ({ type: 'asset' as const, id, name: id })),
  signal_type: fc.constantFrom('x', 'y'),
  source: fc.constantFrom({ type: 'polling' as const, name: 'f' }, { type: 'manual' as const }),
  title: text.map((words) => words.join(' ')),
  description: text.map((words) => words.join('-')),
  detected_at: fc.integer({ min: 0, max: 5_000_000_000 }).map((ms) => new Date(ms).toISOString()),
})

test('points are symmetric and bounded, and add up to the score', () => {
  fc.assert(
    fc.property(
      comparableSignal,
      comparableSignal,
      fc.option(fc.constant('why'), { nil: undefined }),
      (first, second, related) => {
        const setting = { related, window_days: 30 }
        const reasons = findReasons(first, second, setting)
        expect(findReasons(second, first, setting).map(({ reason, points }) => [reason, points])).toEqual(
          reasons.map(({ reason, points }) => [reason, points]),
        )
        const score = sumPoints(reasons)
        expect(score).toBeGreaterThanOrEqual(0)
        expect(score).toBeLessThanOrEqual(100)
        expect(score).toBeCloseTo(
          reasons.reduce((sum, { points }) => sum + points, 0),
          6,
        )
      },
    ),
  )
})
