// The status feed: numbered without gaps, each event once, and readers resume where they stopped.
import { expect, test } from 'vitest'
import { list } from '../../../daemon/roles/hub/feed/list.ts'
import { publish } from '../../../daemon/roles/hub/feed/publish.ts'
import type { StatusEvent } from '../../../daemon/shared/coalition/hub-protocol.ts'
import { openEventReader } from '../../support/http/event-reader.ts'
import { waitUntil } from '../../support/site/test-site.ts'
import { setUpHubSite } from './hub-site.ts'

const world = setUpHubSite({ feed_entries: 100 })

let eventCount = 0
function buildRatification(more: Partial<StatusEvent> = {}): StatusEvent {
  eventCount += 1
  return {
    event_id: `event-${eventCount}`,
    session_id: `ses_${eventCount}`,
    lens_id: 'vessel-identity',
    state: 'RATIFIED',
    at: '2026-03-01T12:00:00.000Z',
    ...more,
  }
}

test('many at once get the numbers one after another, and a repeat has the number that it had', async () => {
  const [alpha, bravo] = [await world().as('alpha'), await world().as('bravo')]
  const events = Array.from({ length: 12 }, () => buildRatification())
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
  const event = buildRatification()
  const entry = await alpha.ok(publish, { id: 'alpha', ...event })
  expect(await alpha.refusal(publish, { id: 'alpha', ...event, state: 'WITHDRAWN' })).toBe('idempotency_mismatch')
  expect((await alpha.ok(list, { limit: 1 })).items).toEqual([entry])
})

test('a stream tells what comes, and resumes after the number that was seen last', async () => {
  const alpha = await world().as('alpha')
  const reader = await openEventReader(world().site.url('hub'), '/api/v2/hub/feed/events', alpha.token)
  await waitUntil(() => reader.events.length > 0)
  const entry = await alpha.ok(publish, { id: 'alpha', ...buildRatification() })
  await waitUntil(() => reader.events.at(-1)?.id === String(entry.seq))
  expect(reader.events.map(({ id }) => Number(id))).toEqual(Array.from({ length: entry.seq }, (_, index) => index + 1))
  expect(reader.events.at(-1)).toMatchObject({ event: 'status', data: entry })
  reader.close()
  const later = await alpha.ok(publish, { id: 'alpha', ...buildRatification() })
  const again = await openEventReader(
    world().site.url('hub'),
    '/api/v2/hub/feed/events',
    alpha.token,
    String(entry.seq),
  )
  await waitUntil(() => again.events.length > 0)
  expect(again.events.map(({ data }) => data)).toEqual([later])
  again.close()
})

test('another coalition has a feed of its own', async () => {
  const foreign = await world().as('foreign')
  expect((await foreign.ok(list, {})).items).toEqual([])
  expect(await foreign.ok(publish, { id: 'foreign', ...buildRatification() })).toMatchObject({ seq: 1 })
  expect((await (await world().as('alpha')).ok(list, { node: 'foreign' })).items).toEqual([])
})

test('the oldest are dropped, and numbers go on', async () => {
  const alpha = await world().as('alpha')
  for (let count = 0; count < 110; count++) await alpha.ok(publish, { id: 'alpha', ...buildRatification() })
  const [newest] = (await alpha.ok(list, { limit: 1 })).items
  world().site.wakeWorker('hub', 'trim')
  const remaining = await waitUntil(async () => {
    const { items } = await alpha.ok(list, { limit: 500 })
    return items.length === 100 && items
  })
  expect([remaining[0]?.seq, remaining.at(-1)?.seq]).toEqual([newest?.seq, (newest?.seq ?? 0) - 99])
  expect((await alpha.ok(publish, { id: 'alpha', ...buildRatification() })).seq).toBe((newest?.seq ?? 0) + 1)
})
