// The status feed: numbered without gaps, each event once, and read on from where a reader stopped.
import { expect, test } from 'vitest'
import type { StatusEvent } from '../../../daemon/kernel/coalition.ts'
import { list } from '../../../daemon/roles/hub/feed/list.ts'
import { publish } from '../../../daemon/roles/hub/feed/publish.ts'
import { readEvents } from '../../support/event-reader.ts'
import { until } from '../../support/site-world.ts'
import { sharedHub } from './hub-world.ts'

const world = sharedHub({ feed_entries: 100 })

let made = 0
function ratified(more: Partial<StatusEvent> = {}): StatusEvent {
  made += 1
  return {
    event_id: `event-${made}`,
    session_id: `ses_${made}`,
    lens_id: 'vessel-identity',
    state: 'RATIFIED',
    at: '2026-03-01T12:00:00.000Z',
    ...more,
  }
}

test('many at once get the numbers one after another, and a repeat has the number that it had', async () => {
  const [alpha, bravo] = [await world().as('alpha'), await world().as('bravo')]
  const events = Array.from({ length: 12 }, () => ratified())
  const all = [...events, ...events].map((event) => alpha.ok(publish, { id: 'alpha', ...event }))
  const entries = await Promise.all([...all, ...events.map((event) => bravo.ok(publish, { id: 'bravo', ...event }))])
  const numbers = [...new Set(entries.map(({ seq }) => seq))].sort((a, b) => a - b)
  expect(numbers).toEqual(Array.from({ length: 24 }, (_, index) => index + 1))
  expect(entries.slice(12, 24)).toEqual(entries.slice(0, 12))
  const { items } = await alpha.ok(list, { limit: 500 })
  expect(items.map(({ seq }) => seq)).toEqual(numbers.toReversed())
  expect((await alpha.ok(list, { node: 'bravo', limit: 500 })).items).toHaveLength(12)
})

test('another story under an event id is refused, and the first stands', async () => {
  const alpha = await world().as('alpha')
  const event = ratified()
  const entry = await alpha.ok(publish, { id: 'alpha', ...event })
  expect(await alpha.refusal(publish, { id: 'alpha', ...event, state: 'WITHDRAWN' })).toBe('idempotency_mismatch')
  expect((await alpha.ok(list, { limit: 1 })).items).toEqual([entry])
})

test('a stream tells what comes, and resumes after the number that was seen last', async () => {
  const alpha = await world().as('alpha')
  const reader = await readEvents(world().site.url('hub'), '/api/v2/hub/feed/events', alpha.token)
  await until(() => reader.seen.length > 0)
  const entry = await alpha.ok(publish, { id: 'alpha', ...ratified() })
  await until(() => reader.seen.at(-1)?.id === String(entry.seq))
  expect(reader.seen.map(({ id }) => Number(id))).toEqual(Array.from({ length: entry.seq }, (_, index) => index + 1))
  expect(reader.seen.at(-1)).toMatchObject({ event: 'status', data: entry })
  reader.leave()
  const later = await alpha.ok(publish, { id: 'alpha', ...ratified() })
  const again = await readEvents(world().site.url('hub'), '/api/v2/hub/feed/events', alpha.token, String(entry.seq))
  await until(() => again.seen.length > 0)
  expect(again.seen.map(({ data }) => data)).toEqual([later])
  again.leave()
})

test('another coalition has a feed of its own', async () => {
  const foreign = await world().as('foreign')
  expect((await foreign.ok(list, {})).items).toEqual([])
  expect(await foreign.ok(publish, { id: 'foreign', ...ratified() })).toMatchObject({ seq: 1 })
  expect((await (await world().as('alpha')).ok(list, { node: 'foreign' })).items).toEqual([])
})

test('the oldest are dropped, and numbers go on', async () => {
  const alpha = await world().as('alpha')
  for (let count = 0; count < 110; count++) await alpha.ok(publish, { id: 'alpha', ...ratified() })
  const [newest] = (await alpha.ok(list, { limit: 1 })).items
  world().site.wake('hub', 'trim')
  const kept = await until(async () => {
    const { items } = await alpha.ok(list, { limit: 500 })
    return items.length === 100 && items
  })
  expect([kept[0]?.seq, kept.at(-1)?.seq]).toEqual([newest?.seq, (newest?.seq ?? 0) - 99])
  expect((await alpha.ok(publish, { id: 'alpha', ...ratified() })).seq).toBe((newest?.seq ?? 0) + 1)
})
