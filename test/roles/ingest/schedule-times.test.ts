// The times of a schedule where clocks are changed, and the least time between two runs.
import { expect, test } from 'vitest'
import { parseSchedule } from '../../../adapters/host/schedule/cron.ts'
import { findNextRun, triggerIdOf } from '../../../daemon/roles/ingest/datapipeline-schedule/rules.ts'
import { requireSchedule } from '../../conformance/schedule.ts'

const minute_ms = 60_000

/** Times that runs are triggered for, each at its time. */
function listTimes(expression: string, from: string, count: number, tick_minutes = 30): string[] {
  const schedule = requireSchedule(parseSchedule, expression)
  const plan = { schedule, zone: 'Europe/Berlin', tick_ms: tick_minutes * minute_ms }
  const times: string[] = []
  let handled = { due: 0, until: Date.parse(from) }
  while (times.length < count) {
    const due = findNextRun(plan, handled) ?? Number.NaN
    times.push(new Date(due).toISOString().slice(5, 16))
    handled = { due, until: due }
  }
  return times
}

test('a time that the clock skips in spring comes at the change, once', () => {
  expect(listTimes('30 2 * * *', '2026-03-28T00:00:00Z', 3)).toEqual(['03-28T01:30', '03-29T01:00', '03-30T00:30'])
})

test('a time that the clock repeats in autumn comes once', () => {
  expect(listTimes('30 2 * * *', '2026-10-24T00:00:00Z', 3)).toEqual(['10-24T00:30', '10-25T00:30', '10-26T01:30'])
})

test('an hourly schedule follows the clock: it leaves nothing out in either change', () => {
  expect(listTimes('@hourly', '2026-03-29T00:30:00Z', 3)).toEqual(['03-29T01:00', '03-29T02:00', '03-29T03:00'])
  expect(listTimes('0 * * * *', '2026-10-25T00:30:00Z', 3)).toEqual(['10-25T01:00', '10-25T02:00', '10-25T03:00'])
})

test('times that a change of clocks brings closer than the tick: the later is left out', () => {
  // 02:15 and 02:45 do not exist, and would come at the change, a quarter of an hour after 01:45.
  expect(listTimes('15,45 1-4 * * *', '2026-03-29T00:30:00Z', 4)).toEqual([
    ...['03-29T00:45', '03-29T01:15', '03-29T01:45', '03-29T02:15'],
  ])
})

test('a clock beyond many times brings one, and then the next of now', () => {
  const schedule = requireSchedule(parseSchedule, '*/30 * * * *')
  const plan = { schedule, zone: 'UTC', tick_ms: 30 * minute_ms }
  const [due, until] = ['2026-03-02T12:00:00Z', '2026-03-05T07:10:00Z'].map((at) => Date.parse(at)) as [number, number]
  expect(findNextRun(plan, { due, until })).toBe(Date.parse('2026-03-05T07:30:00Z'))
})

test('the id of a run names its time', () => {
  expect(triggerIdOf(Date.parse('2026-03-02T12:30:00Z'))).toBe('schedule__20260302T123000Z')
})
