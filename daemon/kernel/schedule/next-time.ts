// The next time of a schedule in a time zone: a pure function, with the rules of Vixie cron where clocks are changed.
import type { Schedule } from './schedule.ts'
import { findHighestReading, findInstants, findNextChange, readClock } from './time-zone.ts'

/**
 * The first time of the schedule after an instant, both in epoch milliseconds; undefined where there is none.
 *
 * Fixed times of day: each time once a day. Where clocks are put forward over it, at the instant of the change; where
 * they are put back over it, the first time that they show it.
 *
 * Periodic (second, minute or hour begins with `*`): whenever the clocks show a matching time. What they skip does not
 * occur; what they repeat occurs twice.
 */
export function nextTime(schedule: Schedule, after: number, zone: string): number | undefined {
  return schedule.isPeriodic ? nextPeriodicTime(schedule, after, zone) : nextFixedTime(schedule, after, zone)
}

function nextFixedTime(schedule: Schedule, after: number, zone: string): number | undefined {
  const reading = schedule.nextReading(findHighestReading(zone, after))
  return reading === undefined ? undefined : findInstants(zone, reading).reached
}

function nextPeriodicTime(schedule: Schedule, after: number, zone: string): number | undefined {
  const onward = findShownTime(schedule, readClock(zone, after), after, zone)
  const change = findNextChange(zone, after)
  if (change === undefined) return onward
  // Readings that the clocks repeat are earlier than the one that they show now.
  const repeated = findShownTime(schedule, readClock(zone, change) - 1, change - 1, zone)
  return onward === undefined || repeated === undefined ? (onward ?? repeated) : Math.min(onward, repeated)
}

/** The first instant after `after` at which clocks show a matching reading after `from`. */
function findShownTime(schedule: Schedule, from: number, after: number, zone: string): number | undefined {
  let reading = schedule.nextReading(from)
  while (reading !== undefined) {
    const { exact, reached } = findInstants(zone, reading)
    const found = exact.find((instant) => instant > after)
    if (found !== undefined) return found
    // Clocks skip it: what they show after the change comes next.
    reading = schedule.nextReading(Math.max(reading, readClock(zone, reached) - 1))
  }
  return undefined
}
