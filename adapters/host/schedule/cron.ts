// Reads cron expressions with croner, on a wall clock without zones: see docs/decisions/0062.
import { Cron } from 'croner'
import { isRefusal } from '../../../daemon/kernel/error/errors.ts'
import { readCronFields, refuseSchedule, type ScheduleParser } from '../../../daemon/kernel/schedule/schedule.ts'

/** Any pair of date and weekday that occurs does so within 40 years of it. */
const first_searched = Date.UTC(2000, 0, 1) - 1

export const parseSchedule: ScheduleParser = (expression) => {
  const cron = readCronFields(expression)
  if (isRefusal(cron)) return cron
  const { fields, isPeriodic, needsBothDays } = cron
  const calendar = openCalendar(fields.join(' '), needsBothDays)
  if (!calendar) return refuseSchedule('a value is out of bounds, or a range runs backwards')
  const nextReading = (after: number) => calendar.nextRun(new Date(after))?.getTime()
  if (nextReading(first_searched) === undefined) return refuseSchedule('its date never occurs')
  return { expression, isPeriodic, nextReading }
}

/** An offset of 0 rather than the zone UTC: it computes, where a zone formats and parses dates. */
function openCalendar(fields: string, needsBothDays: boolean): Cron | undefined {
  try {
    return new Cron(fields, { mode: '6-part', utcOffset: 0, domAndDow: needsBothDays })
  } catch {
    return undefined
  }
}
