// A limit aborts once its time is over, with its reason, and never after its end.
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { startTimeLimit } from './time-limit.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

test('a limit aborts once its time is over, with its reason', () => {
  const { signal } = startTimeLimit(1_000, () => 'late')
  vi.advanceTimersByTime(999)
  expect(signal.aborted).toBe(false)
  vi.advanceTimersByTime(1)
  expect([signal.aborted, signal.reason]).toEqual([true, 'late'])
})

test('a limit that has ended leaves no timer and aborts nothing', () => {
  const limit = startTimeLimit(1_000)
  limit.end()
  expect(vi.getTimerCount()).toBe(0)
  vi.advanceTimersByTime(2_000)
  expect(limit.signal.aborted).toBe(false)
})
