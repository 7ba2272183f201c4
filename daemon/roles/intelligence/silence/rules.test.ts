// Silences follow their matchers, their time span and the clearance of their creator.
import { expect, test } from 'vitest'
import { isRefusal } from '../../../kernel/error/errors.ts'
import { isSilencing, matches, resolveSpan, stateAt } from './rules.ts'

const signal = {
  ...{ tenant_id: 'alpha', signal_type: 'weather.storm', severity: 'low' as const },
  subject: { type: 'sensor' as const, id: 'buoy-7', name: 'Buoy' },
  source: { type: 'polling' as const },
  label: { policy: 'SITE', level: 'SECRET', categories: [], originator: 'alpha' },
}
const policy = { policy: 'SITE', levels: ['OPEN', 'SECRET'] }

test('every given field must match, by any one of its values', () => {
  expect(matches({ severity: ['info', 'low'] }, signal)).toBe(true)
  expect(matches({ severity: ['info'] }, signal)).toBe(false)
  expect(matches({ severity: ['low'], subject_id: ['buoy-8'] }, signal)).toBe(false)
  expect(matches({ severity: ['low'], subject_id: ['buoy-8', 'buoy-7'], subject_type: ['sensor'] }, signal)).toBe(true)
})

test('a trailing * matches any suffix, and an absent value matches nothing', () => {
  expect(matches({ signal_type: ['weather.*'] }, signal)).toBe(true)
  expect(matches({ signal_type: ['*.storm'] }, signal)).toBe(false)
  expect(matches({ signal_type: ['weather'] }, signal)).toBe(false)
  expect(matches({ source_name: ['b*'] }, signal)).toBe(false)
})

test('it applies to signals of its tenant that its creator is cleared for', () => {
  const silence = { tenant_id: 'alpha', matchers: { severity: ['low' as const] } }
  const clearance = { level: 'SECRET', categories: [] }
  expect(isSilencing({ ...silence, clearance }, signal, policy)).toBe(true)
  expect(isSilencing({ ...silence, clearance: undefined }, signal, policy)).toBe(false)
  expect(isSilencing({ ...silence, clearance, tenant_id: 'bravo' }, signal, policy)).toBe(false)
})

test('it is active from its start until before its end', () => {
  const states = [4, 5, 9, 10].map((now) => stateAt({ starts_ts: 5, until_ts: 10 }, now))
  expect(states).toEqual(['pending', 'active', 'active', 'ended'])
})

test('a past start becomes now, and the span is bounded', () => {
  const at = (ms: number) => new Date(ms).toISOString()
  expect(resolveSpan({ starts_at: at(0), ends_at: at(9_000) }, 5_000, 1)).toEqual({ starts_ts: 5_000, until_ts: 9_000 })
  expect(resolveSpan({ ends_at: at(5_000 + 86_400_000) }, 5_000, 1)).toMatchObject({ starts_ts: 5_000 })
  for (const ends_at of [5_000, 5_001 + 86_400_000])
    expect(isRefusal(resolveSpan({ ends_at: at(ends_at) }, 5_000, 1))).toBe(true)
})
