// A key counts for what was created until it expired.
import { expect, test } from 'vitest'
import { isSignedInKeyLifetime } from './key-lifetime.ts'

test('a key cannot sign what was created after the key expired', () => {
  const created = '2026-01-01T12:00:00Z'
  expect(isSignedInKeyLifetime(created, [{}, { not_after: created }])).toBe(true)
  expect(isSignedInKeyLifetime(created, [{}, { not_after: '2026-01-01T11:59:59Z' }])).toBe(false)
})
