// Observations repeat within a window, and those that name somebody else are to be looked at.
import { describe, expect, test } from 'vitest'
import { authorOf, dedupKeyOf, findStaleServices, needsReview, normaliseInstant, observationIds } from './rules.ts'

const event = {
  ...{ trace_id: 'a'.repeat(32), event_type: 'tool_output' as const, service: 'maps' },
  timestamp: '2026-03-02T12:00:00.000Z',
}
const emitted_by = { token_subject: 'ann', token_roles: [], context: 'http' as const }
const tenant = { tenant_id: 'alpha', emitted_by }

describe('the key of a repeat', () => {
  test('is that of trace, type, instant and service, for one emitter', () => {
    const key = dedupKeyOf(tenant, event)
    expect(dedupKeyOf(tenant, { ...event, timestamp: '2026-03-02T13:00:00+01:00' })).toBe(key)
    const others = [
      dedupKeyOf({ ...tenant, tenant_id: 'bravo' }, event),
      dedupKeyOf({ ...tenant, emitted_by: { ...emitted_by, token_subject: 'eve' } }, event),
      dedupKeyOf(tenant, { ...event, trace_id: 'b'.repeat(32) }),
      dedupKeyOf(tenant, { ...event, event_type: 'tool_error' }),
      dedupKeyOf(tenant, { ...event, service: 'charts' }),
      dedupKeyOf(tenant, { ...event, timestamp: '2026-03-02T12:00:00.000001Z' }),
    ]
    expect(new Set([key, ...others]).size).toBe(7)
  })

  test.each([
    ['2026-03-02T12:00:00Z', '2026-03-02T12:00:00.000Z'],
    ['2026-03-02T12:00:00.120000Z', '2026-03-02T12:00:00.120Z'],
    ['2026-03-02T12:00:00.123456Z', '2026-03-02T12:00:00.123456Z'],
    ['2026-03-02T14:00:00.123456+02:00', '2026-03-02T12:00:00.123456Z'],
  ])('%s is %s', (timestamp, normal) => {
    expect(normaliseInstant(timestamp)).toBe(normal)
  })
})

test('ids of a repeat within a window meet, and those of two windows later do not', () => {
  const of = { dedup_key: 'key', timestamp: event.timestamp }
  const [at_first] = observationIds(of, 1_000, 600_000)
  expect(observationIds(of, 599_999, 600_000)[0]).toBe(at_first)
  expect(observationIds(of, 600_000, 600_000)[1]).toBe(at_first)
  expect(observationIds(of, 1_200_000, 600_000)).not.toContain(at_first)
})

test('ids of events are in the order of their times, so that they lie together in a store', () => {
  const idOf = (timestamp: string) =>
    observationIds({ dedup_key: dedupKeyOf(tenant, { ...event, timestamp }), timestamp }, 0, 600_000)[0] ?? ''
  const times = [
    '1960-01-01T00:00:00Z',
    '2026-03-02T12:00:00.000Z',
    '2026-03-02T12:00:00.001002Z',
    '9999-12-31T23:59:59Z',
  ]
  const ids = times.map(idOf)
  expect(ids.toSorted()).toEqual(ids)
  expect(new Set(ids.map((id) => id.length)).size).toBe(1)
})

test.each([
  ['the subject itself', 'ann', { token_subject: 'ann', token_roles: ['analyst'] }, false],
  ['somebody else', 'bob', { token_subject: 'ann', token_roles: ['analyst'] }, true],
  ['somebody else, by the client of the site', 'bob', { token_subject: 'site-client', token_roles: [] }, false],
  ['somebody else, by a service', 'bob', { token_subject: 'maps', token_roles: ['service'] }, false],
  ['somebody else, by a role of the site', 'bob', { token_subject: 'role:ingest', token_roles: [] }, false],
])('naming %s', (_who, username, emitter, isSuspicious) => {
  expect(needsReview(username, { ...emitter, context: 'http' }, new Set(['site-client']))).toBe(isSuspicious)
})

test('a service is stale after its limit, and not at it', () => {
  const last = new Map([
    ['maps', 0],
    ['charts', 1],
  ])
  expect(findStaleServices(last, 301, 300)).toEqual([{ service: 'maps', last_ingest_ts: 0 }])
})

test('the subject of the token is counted, and a name in an envelope only where an administrator sends it', () => {
  const caller_identity = { username: 'bob', roles: [] }
  const by = (token_roles: string[]) => authorOf({ caller_identity, emitted_by: { ...emitted_by, token_roles } })
  expect([by(['analyst']), by(['service']), by(['admin'])]).toEqual(['ann', 'ann', 'bob'])
})
