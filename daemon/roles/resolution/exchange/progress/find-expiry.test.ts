// An exchange expires without progress, and after its time limit regardless of progress.
import { expect, test } from 'vitest'
import { findExpiry } from './find-expiry.ts'

const limits = { exchange_hours: 720, exchange_idle_hours: 168 }
const started_at = '2026-03-02T12:00:00.000Z'
const runningExchange = {
  created_at: started_at,
  updated_at: started_at,
  part: 'proposer',
  own: 'own.1',
  state: 'running',
} as const
const hoursAfterStart = (hours: number) => Date.parse(started_at) + hours * 3_600_000

test('an exchange without progress expires after the idle time, counted from the last progress', () => {
  expect(findExpiry(runningExchange, limits, hoursAfterStart(167.9))).toBeUndefined()
  expect(findExpiry(runningExchange, limits, hoursAfterStart(168))).toMatchObject({ code: 'expired' })
  const later = { ...runningExchange, updated_at: new Date(hoursAfterStart(100)).toISOString() }
  expect(findExpiry(later, limits, hoursAfterStart(267))).toBeUndefined()
  expect(findExpiry(later, limits, hoursAfterStart(268))?.reason).toBe('the exchange made no progress for 168 hours')
})

test('a peer that makes some progress from time to time cannot exceed the time limit', () => {
  const later = { ...runningExchange, updated_at: new Date(hoursAfterStart(719)).toISOString() }
  expect(findExpiry(later, limits, hoursAfterStart(719.9))).toBeUndefined()
  expect(findExpiry(later, limits, hoursAfterStart(720))?.reason).toBe(
    'the exchange did not complete within 720 hours of its proposal',
  )
})

test('only a proposal whose request was interrupted while its records were stored ends after an hour', () => {
  const { own: _own, ...without } = { ...runningExchange, state: 'proposed' as const }
  expect(findExpiry(without, limits, hoursAfterStart(0.9))).toBeUndefined()
  expect(findExpiry(without, limits, hoursAfterStart(1))).toMatchObject({ code: 'cut_short' })
  expect(findExpiry({ ...without, part: 'asked' }, limits, hoursAfterStart(1))).toBeUndefined()
  expect(findExpiry({ ...without, own: 'own.1' }, limits, hoursAfterStart(1))).toBeUndefined()
})
