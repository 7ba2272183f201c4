// A line of progress has counts, and how long the rest will take once that can be known.
import { expect, test } from 'vitest'
import { createDeadline, createProgressFormatter } from './resolution-progress.ts'

test('counts and the time that is left', () => {
  let now = 0
  const line = createProgressFormatter(() => now)
  expect(line({ phase: 'train', done: 0, total: 0 })).toBe('train')
  expect(line({ phase: 'compare', done: 0, total: 1_000 })).toBe('[........................] compare: 0 of 1000')
  now = 30_000
  expect(line({ phase: 'compare', done: 250, total: 1_000 })).toBe(
    '[######..................] compare: 250 of 1000, 2 min left',
  )
  now = 60_000
  expect(line({ phase: 'compare', done: 600, total: 1_000 })).toContain(', 40 s left')
  expect(line({ phase: 'read', done: 0, total: 3_145_728 })).toContain('read: 0.0 MiB of 3.0 MiB')
})

test('a limit is over when its time is, and none never is', () => {
  let now = 5_000
  const [isLate, isNeverLate] = [createDeadline(90, () => now), createDeadline(undefined, () => now)]
  now = 95_000
  expect([isLate(), isNeverLate()]).toEqual([false, false])
  now = 95_001
  expect([isLate(), isNeverLate()]).toEqual([true, false])
})
