// The time between two runs of a schedule, where they are the closest.
import { isRefusal, type Refusal } from '../../../../kernel/error/errors.ts'
import { part } from '../../../../kernel/role/part.ts'
import type { ScheduleParser } from '../../../../kernel/schedule/schedule.ts'

export const hintScheduleParserPart = part<ScheduleParser>('guide-schedule-parser')

const first_searched = Date.UTC(2000, 0, 1) - 1
/** Readings that are looked at: a day of a schedule of each quarter of an hour, or years of a rarer one. */
const max_readings = 100

/** Seconds; the refusal of an expression that is not a schedule. */
export function findInterval(parse: ScheduleParser, expression: string): number | Refusal | undefined {
  const schedule = parse(expression)
  if (isRefusal(schedule)) return schedule
  let shortest_ms = Number.POSITIVE_INFINITY
  let last = schedule.nextReading(first_searched)
  for (let count = 1; last !== undefined && count < max_readings; count += 1) {
    const next = schedule.nextReading(last)
    if (next !== undefined) shortest_ms = Math.min(shortest_ms, next - last)
    last = next
  }
  return Number.isFinite(shortest_ms) ? Math.floor(shortest_ms / 1_000) : undefined
}
