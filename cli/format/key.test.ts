// Formats the age and expiry of a key.
import { expect, test } from 'vitest'
import type { PublicKey } from '../../daemon/kernel/cryptography/signatures.ts'
import { addKeyAge } from './key.ts'

const now = Date.parse('2026-03-11T12:00:00Z')
const key = (more: Partial<PublicKey>) => ({ created: '2026-03-01T12:00:00Z', status: 'active', ...more }) as PublicKey

test.each<[string, Partial<PublicKey>, number | undefined]>([
  ['without an end', {}, undefined],
  ['that ends in ten days', { not_after: '2026-03-21T12:00:00Z' }, 10],
  ['that ends in less than a day', { not_after: '2026-03-12T11:59:59Z' }, 0],
  ['past its end', { not_after: '2026-03-10T12:00:00Z' }, 0],
  ['that is retired', { status: 'retired', not_after: '2026-03-21T12:00:00Z' }, undefined],
])('a key %s', (_, more, days_left) => {
  const [seen] = addKeyAge([key(more)], now)
  expect(seen).toMatchObject({ age_days: 10 })
  expect(seen?.days_left).toBe(days_left)
})

test('a key of tomorrow, by a clock that was set back, has no age', () => {
  expect(addKeyAge([key({ created: '2026-03-12T12:00:00Z' })], now)).toMatchObject([{ age_days: 0 }])
})
