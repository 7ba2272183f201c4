// An exchange ends by itself: when nothing comes of it, and when it takes too long however much comes.
import { expect, test } from 'vitest'
import { expiryOf } from './expiry.ts'

const limits = { exchange_hours: 720, exchange_idle_hours: 168 }
const begun = '2026-03-02T12:00:00.000Z'
const known = { created_at: begun, updated_at: begun, part: 'proposer', own: 'own.1', state: 'running' } as const
const after = (hours: number) => Date.parse(begun) + hours * 3_600_000

test('without progress it has the idle time, from the last progress on', () => {
  expect(expiryOf(known, limits, after(167.9))).toBeUndefined()
  expect(expiryOf(known, limits, after(168))).toMatchObject({ code: 'expired' })
  const later = { ...known, updated_at: new Date(after(100)).toISOString() }
  expect(expiryOf(later, limits, after(267))).toBeUndefined()
  expect(expiryOf(later, limits, after(268))?.reason).toBe('there was no progress for 168 hours')
})

test('a peer that says a little from time to time has no more than the whole time', () => {
  const later = { ...known, updated_at: new Date(after(719)).toISOString() }
  expect(expiryOf(later, limits, after(719.9))).toBeUndefined()
  expect(expiryOf(later, limits, after(720))?.reason).toBe('it was not through 720 hours after it was proposed')
})

test('a proposal whose request died while it kept its records ends after an hour, and no other does', () => {
  const { own: _own, ...without } = { ...known, state: 'proposed' as const }
  expect(expiryOf(without, limits, after(0.9))).toBeUndefined()
  expect(expiryOf(without, limits, after(1))).toMatchObject({ code: 'cut_short' })
  expect(expiryOf({ ...without, part: 'asked' }, limits, after(1))).toBeUndefined()
  expect(expiryOf({ ...without, own: 'own.1' }, limits, after(1))).toBeUndefined()
})
