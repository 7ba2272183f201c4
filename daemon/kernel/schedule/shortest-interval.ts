// Refuses schedules that recur more often than what runs them.
import { type Refusal, refuse } from '../error/errors.ts'
import type { Schedule } from './schedule.ts'

const minute_ms = 60_000
const day_ms = 86_400_000

/** Weekdays and leap days recur together after 28 years. */
const first_searched = Date.UTC(2000, 0, 1)
const last_searched = Date.UTC(2028, 0, 1)

/**
 * Refuses `invalid` for a schedule with two times less than a tick apart, on a clock that is never changed: of such
 * times a scheduler that wakes once a tick would drop some.
 */
export function findTickProblem(schedule: Schedule, tick_minutes: number): Refusal | undefined {
  const tick_ms = tick_minutes * minute_ms
  const close = findCloseReadings(schedule, Math.min(tick_ms, day_ms))
  if (!close) return undefined
  const [from, to] = close.map((reading) => new Date(reading).toISOString().slice(11, 19))
  return refuse(
    'invalid',
    `The schedule "${schedule.expression}" recurs too often: ${from} and ${to} are less than ${tick_minutes} minutes apart. Use a schedule whose times are at least ${tick_minutes} minutes apart`,
  )
}

/** Two successive readings that are less than `least_ms` apart, for up to a day; undefined where there are none. */
function findCloseReadings(schedule: Schedule, least_ms: number): [number, number] | undefined {
  let reading = schedule.nextReading(first_searched - 1)
  if (reading === undefined) return undefined
  const isSameDay = (a: number, b: number) => Math.floor(a / day_ms) === Math.floor(b / day_ms)
  const first = reading
  // Each matching day has the same times: the first one shows the intervals within all of them.
  for (;;) {
    const next = schedule.nextReading(reading)
    if (next === undefined) return undefined
    if (next - reading < least_ms) return [reading, next]
    if (!isSameDay(reading, next)) break
    reading = next
  }
  // Across midnight: some matching day must be followed by another.
  const across_ms = (first % day_ms) + day_ms - (reading % day_ms)
  if (across_ms >= least_ms) return undefined
  for (let last = reading; last < last_searched; ) {
    const next = schedule.nextReading(last)
    if (next === undefined) return undefined
    if (next - last < least_ms) return [last, next]
    last = next - (next % day_ms) + (reading % day_ms)
  }
  return undefined
}
