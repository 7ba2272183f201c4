// The precision of sources, as signals are disposed of over HTTP, for cleared callers.
import { expect, test } from 'vitest'
import { archive } from '../../../daemon/roles/intelligence/signal/archive.ts'
import { setDisposition } from '../../../daemon/roles/intelligence/signal/set-disposition.ts'
import { statistics } from '../../../daemon/roles/intelligence/signal/statistics.ts'
import { raiseSignal, setUpIntelligenceSite } from './intelligence-site.ts'

const world = setUpIntelligenceSite()
const span = { since: '2026-03-01', until: '2026-03-03' }

test('counts the dispositions of signals for their source, and nothing above the caller', async () => {
  const ann = await world().as()
  const low = await world().as({ subject: 'lou', clearance: { level: 'UNCLASSIFIED' } })
  const eve = await world().as({ subject: 'eve', tenant: 'tenant-b' })
  const source = { type: 'polling' as const, name: 'feed-7', reference: 'https://feed.example/1' }
  const from = (more: object = {}) => raiseSignal(ann, { source, classification: 'UNCLASSIFIED', ...more })
  const rationale = 'as the test has it'
  const [hit, miss, away, secret] = [await from(), await from(), await from(), await from({ classification: 'SECRET' })]
  await from()
  await raiseSignal(ann, {
    source: { type: 'manual' },
    classification: 'UNCLASSIFIED',
    detected_at: '2026-02-28T23:59:59Z',
  })
  for (const uid of [hit, secret]) {
    await ann.ok(setDisposition, { uid, disposition: 'investigating', rationale })
    await ann.ok(setDisposition, { uid, disposition: 'resolved', rationale })
  }
  await ann.ok(setDisposition, { uid: miss, disposition: 'dismissed', rationale })
  await ann.ok(archive, { uid: away })

  const own = { source: { type: 'polling', name: 'feed-7' }, signal_type: 'watchlist_hit' }
  const { items, total } = await ann.ok(statistics, span)
  expect(items).toEqual([
    {
      ...own,
      ...{ counts: { open: 1, resolved: 2, dismissed: 1, archived: 1 }, disposed: 4, precision: 0.5 },
      // (0.5 + z²/8 ± z·sqrt(1/16 + z²/64)) / (1 + z²/4) with z = 1.96, by hand.
      interval: { low: expect.closeTo(0.15, 2), high: expect.closeTo(0.85, 2) },
    },
  ])
  expect(total).toEqual({ ...items[0], source: undefined, signal_type: undefined })
  expect((await low.ok(statistics, span)).items).toMatchObject([
    { counts: { open: 1, resolved: 1, dismissed: 1, archived: 1 }, disposed: 3 },
  ])
  expect((await eve.ok(statistics, span)).items).toEqual([])
  expect((await ann.ok(statistics, { ...span, source_name: 'feed-8' })).items).toEqual([])
  expect((await ann.ok(statistics, { ...span, signal_type: 'watchlist_hit' })).items).toHaveLength(1)
  // The last 90 days of the site's clock.
  const { until, since } = await ann.ok(statistics, {})
  expect([until, (Date.parse(until) - Date.parse(since)) / 86_400_000]).toEqual([
    new Date(world().clock.now()).toISOString().slice(0, 10),
    89,
  ])
})

test('a span that is none, or longer than a year, is refused', async () => {
  const ann = await world().as()
  for (const wrong of [
    { since: '2026-03-03', until: '2026-03-02' },
    { since: '2025-01-01', until: '2026-03-02' },
    { since: '2026-13-01' },
  ])
    expect(await ann.refusal(statistics, wrong)).toBe('invalid')
})
