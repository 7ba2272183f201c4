// The slowest transfer that a listener waits for, by bytes moved and time elapsed.
import { expect, test } from 'vitest'
import { isBelowPace } from './transfer-pace.ts'

const pace = { grace_ms: 5_000, bytes_per_s: 500 }

test.each([
  [0, 5_000, false],
  [0, 5_001, true],
  [1, 5_003, true],
  [500, 6_000, false],
  [500, 6_001, true],
  [1_000_000, 30_000, false],
])('%i bytes after %i ms: too slow is %s', (bytes, elapsed_ms, isTooSlow) => {
  expect(isBelowPace(bytes, elapsed_ms, pace)).toBe(isTooSlow)
})
