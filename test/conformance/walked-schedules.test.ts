// Compares the times of schedules with a slow walk through the minutes of a year, and of each change of clocks.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseSchedule } from '../../adapters/host/schedule/cron.ts'
import { nextTime } from '../../daemon/kernel/schedule/next-time.ts'
import { listChanges, listWalkedTimes, type SampleSchedule, walkMinutes } from '../support/schedule/walked-schedule.ts'
import { requireSchedule } from './schedule.ts'

const day_ms = 86_400_000

/** A field as text and as the set that it means; undefined for an asterisk. */
type SampleField = { readonly text: string; readonly set: ReadonlySet<number> | undefined }

const anyValue: SampleField = { text: '*', set: undefined }

function sampleField(least: number, most: number): fc.Arbitrary<SampleField> {
  const value = fc.integer({ min: least, max: most })
  const range = fc
    .tuple(value, value, fc.integer({ min: 1, max: 7 }))
    .map(([a, b, step]) => [Math.min(a, b), Math.max(a, b), step] as const)
    .map(([from, to, step]) => {
      const values = Array.from({ length: to - from + 1 }, (_, at) => from + at)
      return { text: `${from}-${to}/${step}`, set: new Set(values.filter((each) => (each - from) % step === 0)) }
    })
  const list = fc
    .array(value, { minLength: 1, maxLength: 3 })
    .map((all) => ({ text: all.join(','), set: new Set(all) }))
  return fc.oneof(fc.constant(anyValue), list, range)
}

const sampleSchedule: fc.Arbitrary<SampleSchedule> = fc
  .tuple(sampleField(0, 59), sampleField(0, 23), sampleField(1, 28), sampleField(1, 12), sampleField(0, 6))
  .map(([minutes, hours, days, months, weekdays]) => ({
    expression: [minutes, hours, days, months, weekdays].map(({ text }) => text).join(' '),
    ...{ minutes: minutes.set, hours: hours.set, days: days.set, months: months.set, weekdays: weekdays.set },
  }))

function listTimes({ expression }: SampleSchedule, zone: string, from: number, to: number): number[] {
  const schedule = requireSchedule(parseSchedule, expression)
  const times: number[] = []
  for (let at = nextTime(schedule, from - 1, zone); at !== undefined && at < to; at = nextTime(schedule, at, zone))
    times.push(at)
  return times
}

/** Both hemispheres, changes of half an hour, at midnight, of two hours, and none. */
const zones = [
  ...['UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'America/Santiago', 'Africa/Cairo'],
  ...['Asia/Kathmandu', 'Antarctica/Troll', 'Africa/Casablanca', 'Asia/Beirut', 'America/Havana', 'Pacific/Chatham'],
]

describe.each(['Europe/Berlin', 'Australia/Lord_Howe', 'America/Santiago'])('in %s', (zone) => {
  test('a year of any schedule is as a walk through its minutes finds it', () => {
    const [from, to] = [Date.UTC(2026, 0, 1), Date.UTC(2027, 0, 1)]
    const walked = walkMinutes(zone, from - 2 * day_ms, to)
    fc.assert(
      fc.property(sampleSchedule, (sample) => {
        const expected = listWalkedTimes(sample, walked).filter((instant) => instant >= from)
        // Every time of rare schedules, and the first ones of each half of the year of the others.
        const some = expected.length > 1_000 ? 300 : expected.length
        for (const begin of [from, from + 180 * day_ms]) {
          const wanted = expected.filter((instant) => instant >= begin).slice(0, some)
          const end = wanted.length === some ? (wanted.at(-1) ?? to) + 1 : to
          expect(listTimes(sample, zone, begin, end)).toEqual(wanted)
        }
      }),
      { numRuns: 8 },
    )
  })
})

/** Within a day, so that each matters on the day of a change. */
const dailySchedule = sampleSchedule.map(({ expression, minutes, hours }) => ({
  expression: `${expression.split(' ').slice(0, 2).join(' ')} * * *`,
  ...{ minutes, hours, days: undefined, months: undefined, weekdays: undefined },
}))

test.each(zones)('around every change of the clocks of %s in three years, times are as a walk finds them', (zone) => {
  const changes = listChanges(zone, Date.UTC(2021, 0, 1), Date.UTC(2024, 0, 1))
  const walks = changes.map((change) => ({
    from: change - 2 * day_ms,
    to: change + day_ms,
    walked: walkMinutes(zone, change - 3 * day_ms, change + day_ms),
  }))
  fc.assert(
    fc.property(dailySchedule, (sample) => {
      for (const { from, to, walked } of walks) {
        const expected = listWalkedTimes(sample, walked).filter((instant) => instant >= from)
        expect(listTimes(sample, zone, from, to)).toEqual(expected)
      }
    }),
    { numRuns: 5 },
  )
})
