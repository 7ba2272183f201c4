// Snapshots are hourly for a week, daily for a month, weekly for three, and gone afterwards.
import { expect, test } from 'vitest'
import { planThinning, weekOf } from './snapshot-rules.ts'

const hour_ms = 3_600_000
const day_ms = 24 * hour_ms
const terms = { hourly_days: 7, daily_days: 30 }
const start = Date.parse('2026-01-01T00:30:00Z')

const snapshotOf = (taken_ts: number, tenant_id = 'alpha') => ({
  ...{ snapshot_id: `${tenant_id} ${taken_ts}`, graph_id: 'outcome_graph' as const, tenant_id, label: undefined },
  ...{ tier: 'hourly' as 'hourly' | 'daily' | 'weekly', taken_ts, parts: 1 },
})

test('120 days of hourly snapshots, thinned out each day, leave those of each tier', () => {
  let kept: ReturnType<typeof snapshotOf>[] = []
  let now = start
  for (let hours = 0; hours < 120 * 24; hours += 1, now += hour_ms) {
    kept.push(snapshotOf(now))
    if (hours % 24 !== 23) continue
    const { removed, retagged } = planThinning(kept, now, terms)
    const tiers = new Map(retagged.map(({ snapshot_id, tier }) => [snapshot_id, tier]))
    kept = kept
      .filter((each) => !removed.includes(each))
      .map((each) => ({ ...each, tier: tiers.get(each.snapshot_id) ?? each.tier }))
  }
  const ages = (tier: string) => kept.filter((each) => each.tier === tier).map(({ taken_ts }) => now - taken_ts)
  expect(ages('hourly')).toHaveLength(7 * 24 + 1)
  expect(ages('daily').length).toBeGreaterThanOrEqual(22)
  expect(ages('daily').length).toBeLessThanOrEqual(24)
  expect(ages('weekly').length).toBeGreaterThanOrEqual(8)
  expect(ages('weekly').length).toBeLessThanOrEqual(10)
  expect(Math.max(...ages('weekly'))).toBeLessThanOrEqual(91 * day_ms)
  const days = kept.filter(({ tier }) => tier === 'daily').map(({ taken_ts }) => new Date(taken_ts).toISOString())
  expect(new Set(days.map((day) => day.slice(0, 10))).size).toBe(days.length)
  // The newest of its day.
  expect(days.slice(0, -1).every((day) => day.includes('T23:30'))).toBe(true)
})

test('graphs of two tenants are thinned out apart', () => {
  const both = [snapshotOf(start), snapshotOf(start + 1, 'bravo')]
  expect(planThinning(both, start + 8 * day_ms, terms).removed).toEqual([])
})

test.each([
  ['2026-01-01', '2026-W01'],
  ['2027-01-03', '2026-W53'],
  ['2027-01-04', '2027-W01'],
  ['2024-12-30', '2025-W01'],
])('%s is in %s', (day, week) => {
  expect(weekOf(Date.parse(`${day}T12:00:00Z`))).toBe(week)
})
