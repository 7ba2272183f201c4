// Holds the clock to its units and its direction.
import { expect, test } from 'vitest'
import { systemClock } from './system-clock.ts'

test('now is epoch milliseconds and monotonic never goes back', () => {
  const clock = systemClock()
  expect(Math.abs(clock.now() - Date.now())).toBeLessThan(1_000)
  let last = clock.monotonic()
  for (let i = 0; i < 1_000; i++) {
    const next = clock.monotonic()
    expect(next).toBeGreaterThanOrEqual(last)
    last = next
  }
})
