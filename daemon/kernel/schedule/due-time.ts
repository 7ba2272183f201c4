// The due times of a schedule that a process may sleep through: which of them comes next, after those that are handled.
import { nextTime } from './next-time.ts'
import type { Schedule } from './schedule.ts'

export type ZonedSchedule = { readonly schedule: Schedule; readonly zone: string }

/**
 * How far a schedule is handled, in epoch milliseconds. `due`: the time that the last run was for, 0 before the first;
 * `until`: the clock at that run, which stood for every time in between, or when the schedule was first seen.
 */
export type HandledTime = { readonly due: number; readonly until: number }

/** Handled times by the name of their worker. Durable when a promise resolves. */
export type ScheduleRecord = {
  /** Undefined for a worker that has none, or whose schedule was another. */
  read(worker: string, schedule: string): HandledTime | undefined
  write(worker: string, schedule: string, handled: HandledTime): Promise<void>
}

/** As a record names it: another expression or zone begins anew. */
export function describeSchedule({ schedule, zone }: ZonedSchedule): string {
  return `${schedule.expression} in ${zone}`
}

/** The next due time: one in the past is due now, and stands for all that passed since the last run. */
export function findDueTime({ schedule, zone }: ZonedSchedule, { due, until }: HandledTime): number | undefined {
  return nextTime(schedule, Math.max(due, until), zone)
}

/**
 * What is handled once the clock was put back. The time of the last run does not come again; the times that it stood
 * for do, so that a clock that ran years ahead does not stop the schedule for years.
 */
export function putBack(handled: HandledTime, now: number): HandledTime {
  return { due: handled.due, until: Math.min(handled.until, now) }
}
