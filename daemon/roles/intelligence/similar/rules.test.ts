// Holds the likeness of signals to its table of points, to symmetry, and to a sum that people can check.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Compared, reasonsOf, scoreOf } from './rules.ts'

const one: Compared = {
  subject: { type: 'asset', id: 'ship-1', name: 'Aurora' },
  signal_type: 'watchlist_hit',
  source: { type: 'polling', name: 'feed-7' },
  title: 'Aurora seen at anchor',
  detected_at: '2026-03-02T12:00:00.000Z',
}
const plain = { related: undefined, window_days: 30 }
const told = (other: Partial<Compared>, setting: { related: string | undefined; window_days: number } = plain) =>
  reasonsOf(one, { ...one, ...other }, setting).map(({ reason, points }) => [reason, points])

test('the same signal again has all the points, but for being related', () => {
  const reasons = reasonsOf(one, one, { ...plain, related: 'named by sig_1' })
  expect(scoreOf(reasons)).toBe(100)
  expect(reasons.map(({ reason }) => reason)).toEqual([
    ...['same_subject', 'same_type', 'same_source', 'words', 'near_in_time'],
  ])
})

test('each reason is given for what it says alone, with what it rests on', () => {
  const other: Compared = {
    subject: { type: 'asset', id: 'ship-2', name: 'Borea' },
    signal_type: 'other',
    source: { type: 'manual' },
    title: 'nothing',
    detected_at: '2025-03-02T12:00:00.000Z',
  }
  expect(reasonsOf(one, other, plain)).toEqual([])
  const words = { title: 'AURORA at ﬁrst', description: 'anchor, seen' }
  expect(reasonsOf(one, { ...other, ...words }, plain)).toEqual([
    // Of aurora, seen, anchor and first three are in both; words of two letters say nothing.
    { reason: 'words', points: 15, detail: 'anchor aurora seen' },
  ])
  expect(reasonsOf(one, other, { ...plain, related: 'in ins_1' })).toEqual([
    { reason: 'related', points: 20, detail: 'in ins_1' },
  ])
  const twoDays = { ...other, detected_at: '2026-03-04T12:00:00.000Z' }
  expect(reasonsOf(one, twoDays, { ...plain, window_days: 4 })).toEqual([
    { reason: 'near_in_time', points: 5, detail: '2 days apart' },
  ])
})

test('sources without a name are not known to be the same', () => {
  const manual = { ...one, source: { type: 'manual' as const } }
  expect(reasonsOf(manual, manual, plain).map(({ reason }) => reason)).not.toContain('same_source')
  expect(told({ source: { type: 'webhook', name: 'feed-7' } })).not.toContainEqual(['same_source', 15])
})

const text = fc.array(fc.constantFrom('aurora', 'borea', 'anchor', 'at', 'sea', 'port', 'ÅLAND'), { maxLength: 8 })
const compared = fc.record({
  subject: fc.constantFrom('a', 'b').map((id) => ({ type: 'asset' as const, id, name: id })),
  signal_type: fc.constantFrom('x', 'y'),
  source: fc.constantFrom({ type: 'polling' as const, name: 'f' }, { type: 'manual' as const }),
  title: text.map((words) => words.join(' ')),
  description: text.map((words) => words.join('-')),
  detected_at: fc.integer({ min: 0, max: 5_000_000_000 }).map((ms) => new Date(ms).toISOString()),
})

test('both ways round the points are the same, each within its bound, and they add up', () => {
  fc.assert(
    fc.property(compared, compared, fc.option(fc.constant('why'), { nil: undefined }), (first, second, related) => {
      const setting = { related, window_days: 30 }
      const reasons = reasonsOf(first, second, setting)
      expect(reasonsOf(second, first, setting).map(({ reason, points }) => [reason, points])).toEqual(
        reasons.map(({ reason, points }) => [reason, points]),
      )
      const score = scoreOf(reasons)
      expect(score).toBeGreaterThanOrEqual(0)
      expect(score).toBeLessThanOrEqual(100)
      expect(score).toBeCloseTo(
        reasons.reduce((sum, { points }) => sum + points, 0),
        6,
      )
    }),
  )
})
