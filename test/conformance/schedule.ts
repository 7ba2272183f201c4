// Everything that a parser of schedules must keep, as data: each adapter is run against all of it.
import { expect } from 'vitest'
import { isRefusal } from '../../daemon/kernel/error/errors.ts'
import { nextTime } from '../../daemon/kernel/schedule/next-time.ts'
import type { Schedule, ScheduleParser } from '../../daemon/kernel/schedule/schedule.ts'
import { findTickProblem } from '../../daemon/kernel/schedule/shortest-interval.ts'
import {
  dayCases,
  fieldCases,
  impossibleExpressions,
  leapDayCases,
  monday,
  refusedExpressions,
  tickCases,
  zoneCases,
} from './schedule-cases.ts'

type ScheduleRequirement = {
  readonly id: string
  readonly description: string
  readonly verify: (parse: ScheduleParser) => void
}

const requirement = (id: string, says: string, holds: ScheduleRequirement['verify']): ScheduleRequirement => ({
  id: `schedule/${id}`,
  description: says,
  verify: holds,
})

/** Parses what must be a schedule. */
export function requireSchedule(parse: ScheduleParser, expression: string): Schedule {
  const schedule = parse(expression)
  if (isRefusal(schedule)) throw schedule
  return schedule
}

/** The next times as UTC, to the second, without the parts that are always zero. */
function listTimes(parse: ScheduleParser, expression: string, after: string, count: number, zone = 'UTC'): string[] {
  const schedule = requireSchedule(parse, expression)
  const times: string[] = []
  let from = Date.parse(after)
  while (times.length < count) {
    const next = nextTime(schedule, from, zone)
    if (next === undefined) return [...times, 'never']
    times.push(new Date(next).toISOString().replace(/(:00)?\.000Z$/, ''))
    from = next
  }
  return times
}

export const scheduleRequirements: readonly ScheduleRequirement[] = [
  ...[...fieldCases, ...leapDayCases, ...dayCases].map(([expression, times]) =>
    requirement('fields', `"${expression}" is ${times[0]} and so on`, (parse) => {
      expect(listTimes(parse, expression, monday, times.length)).toEqual(times)
    }),
  ),
  ...refusedExpressions.map((expression) =>
    requirement('refused', `${JSON.stringify(expression.slice(0, 40))} is refused, with what is allowed`, (parse) => {
      const refusal = parse(expression)
      expect(isRefusal(refusal) && [refusal.code, refusal.message]).toEqual([
        'invalid',
        expect.stringMatching(/^The expression is not a schedule: .*such as 0 3 \* \* \*$/),
      ])
    }),
  ),
  ...impossibleExpressions.map((expression) =>
    requirement('never', `"${expression}" is refused: no such date`, (parse) => {
      expect(parse(expression)).toMatchObject({ code: 'invalid', message: expect.stringContaining('never occurs') })
    }),
  ),
  ...zoneCases.map(([says, expression, zone, after, times]) =>
    requirement('zones', `${says}: "${expression}" in ${zone}`, (parse) => {
      expect(listTimes(parse, expression, after, times.length, zone)).toEqual(times)
    }),
  ),
  ...tickCases.map(([expression, tick, isRefused]) =>
    requirement('tick', `"${expression}" with a tick of ${tick} minutes: refused ${isRefused}`, (parse) => {
      const problem = findTickProblem(requireSchedule(parse, expression), tick)
      expect(problem?.code).toBe(isRefused ? 'invalid' : undefined)
    }),
  ),
  requirement('exclusive', 'the next time is after the instant, to the millisecond', (parse) => {
    expect(listTimes(parse, '0 3 * * *', '2026-11-23T02:59:59.999Z', 1)).toEqual(['2026-11-23T03:00'])
    expect(listTimes(parse, '0 3 * * *', '2026-11-23T03:00:00.000Z', 1)).toEqual(['2026-11-24T03:00'])
    expect(listTimes(parse, '* * * * * *', '2026-11-23T03:00:00.001Z', 1)).toEqual(['2026-11-23T03:00:01'])
  }),
]
