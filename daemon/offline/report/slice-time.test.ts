// Columns are of a round width, cover every instant, and are few for any span.
import { expect, test } from 'vitest'
import { divideSpan, sliceTime } from './slice-time.ts'

test.each([
  ['an instant', 0],
  ['an hour', 3_600_000],
  ['a month', 2_592_000_000],
  ['a hundred years', 3_155_760_000_000],
])('%s', (_, span) => {
  const from = Date.parse('2026-05-01T10:17:23Z')
  const { start, step_ms, columns } = divideSpan(from, from + span)
  expect(start % step_ms).toBe(0)
  expect(start).toBeLessThanOrEqual(from)
  expect(start + columns * step_ms).toBeGreaterThan(from + span)
  expect(columns).toBeLessThanOrEqual(62)
})

test('counts add up, and nothing has no columns', () => {
  const instants = [0, 60_000, 61_000, 3_600_000]
  const { countBy, columns } = sliceTime(instants)
  const all = countBy(() => true)
  expect([all.length, all.reduce((sum, count) => sum + count, 0)]).toEqual([columns, 4])
  expect(countBy((at) => at === 3).at(-1)).toBe(1)
  expect(sliceTime([]).columns).toBe(0)
})
