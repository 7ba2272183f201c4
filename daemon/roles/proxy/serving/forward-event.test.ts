// Each end of a forwarded request: its reason, and the health of the upstream.
import { expect, test } from 'vitest'
import { answeredEvent, callerLeftEvent, failureEvent } from './forward-event.ts'

test.each([
  ['answered 200', answeredEvent(200), 'forwarded', { ok: true, detail: 'answered 200' }],
  ['answered 404', answeredEvent(404), 'forwarded', { ok: true, detail: 'answered 404' }],
  ['answered 503', answeredEvent(503), 'forwarded', { ok: false, detail: 'answered 503' }],
  ['busy', failureEvent('busy', false), 'upstream_unreachable', undefined],
  ['timeout', failureEvent('timeout', false), 'upstream_timeout', { ok: false, detail: 'upstream_timeout' }],
  ['address', failureEvent('address', false), 'upstream_address', { ok: false, detail: 'upstream_address' }],
  ['closed late', failureEvent('closed', true), 'upstream_unreachable', { ok: false, detail: 'upstream_unreachable' }],
  ['left at once', callerLeftEvent(4_999), 'client_gone', undefined],
  ['left late', callerLeftEvent(5_000), 'client_gone', { ok: false, detail: 'silent until the caller disconnected' }],
])('%s', (_, event, reason, health) => {
  expect(event).toMatchObject({ reason, health })
})

test('a failure after the head counts as a broken response', () => {
  expect([failureEvent('closed', false).type, failureEvent('closed', true).type]).toEqual(['failed', 'broken_off'])
})

test('requests of the same end share one event', () => {
  expect(answeredEvent(200)).toBe(answeredEvent(200))
})
