// Checks the units of the clock, and that monotonic time never decreases.
import { expect, test } from 'vitest'
import { systemClock } from './system-clock.ts'

test('now returns epoch milliseconds and monotonic never decreases', () => {
  const clock = systemClock()
  expect(Math.abs(clock.now() - Date.now())).toBeLessThan(1_000)
  let last = clock.monotonic()
  for (let i = 0; i < 1_000; i++) {
    const next = clock.monotonic()
    expect(next).toBeGreaterThanOrEqual(last)
    last = next
  }
})
