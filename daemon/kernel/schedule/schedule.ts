// Schedules: cron expressions and named intervals, read strictly. An adapter computes the calendar behind them.
import { type Refusal, refuse } from '../error/errors.ts'

/**
 * A reading is the time that a wall clock shows, as the epoch milliseconds of the same time in UTC: a schedule knows no
 * time zone.
 */
export type Schedule = {
  readonly expression: string
  /** Whether it recurs within the day, rather than at fixed times of day: see `nextTime`. */
  readonly isPeriodic: boolean
  /** The first matching reading after the given one; undefined beyond the years that the adapter searches. */
  nextReading(after: number): number | undefined
}

/** Reads an expression of at most 128 characters. Refuses `invalid` for one that is not a schedule, or never occurs. */
export type ScheduleParser = (expression: string) => Schedule | Refusal

/** The six fields of an expression, from seconds to days of the week, as the adapter receives them. */
export type CronFields = {
  readonly fields: readonly [string, string, string, string, string, string]
  readonly isPeriodic: boolean
  /** Whether a day must match both day fields, rather than either. */
  readonly needsBothDays: boolean
}

const named_intervals: ReadonlyMap<string, string> = new Map([
  ['@hourly', '0 * * * *'],
  ['@daily', '0 0 * * *'],
  ['@weekly', '0 0 * * 0'],
  ['@monthly', '0 0 1 * *'],
])

const number = '\\d{1,2}'
/** An asterisk, value or range, with an optional step for the first and the last; several with commas. */
const fieldPattern = (value: string) => {
  const entry = `(\\*(/${number})?|${value}|${value}-${value}(/${number})?)`
  return new RegExp(`^${entry}(,${entry})*$`, 'i')
}
const numeric = fieldPattern(number)
const month = fieldPattern(`(${number}|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)`)
const weekday = fieldPattern(`(${number}|sun|mon|tue|wed|thu|fri|sat)`)
const fieldPatterns = [numeric, numeric, numeric, numeric, month, weekday]

const max_expression_length = 128

/**
 * Splits an expression into its fields; a missing first field is second 0. Takes the common grammar alone: `*`, values,
 * ranges, lists, steps, names of months and days, Sunday as 0 or 7. The adapter checks the bounds of the values.
 */
export function readCronFields(expression: string): CronFields | Refusal {
  if (expression.length > max_expression_length) return refuseSchedule(`it has ${expression.length} characters`)
  const words = (named_intervals.get(expression) ?? expression).split(' ').filter((word) => word !== '')
  const fields = words.length === 5 ? ['0', ...words] : words
  if (fields.length !== 6) return refuseSchedule(`it has ${words.length} fields`)
  const wrong = fields.find((field, at) => !fieldPatterns[at]?.test(field))
  if (wrong !== undefined) return refuseSchedule(`${JSON.stringify(wrong)} is not a field`)
  const [second = '', minute = '', hour = '', day = '', , weekday = ''] = fields
  return {
    fields: fields as unknown as CronFields['fields'],
    isPeriodic: [second, minute, hour].some(beginsWithAsterisk),
    needsBothDays: [day, weekday].some(beginsWithAsterisk),
  }
}

/** As Vixie cron decides whether a field is a wildcard. */
const beginsWithAsterisk = (field: string) => field.startsWith('*')

export function refuseSchedule(observed: string): Refusal {
  return refuse(
    'invalid',
    `The expression is not a schedule: ${observed}. Use five fields (minute, hour, day of month, month, day of week), six with seconds first, or ${[...named_intervals.keys()].join(', ')}, such as 0 3 * * *`,
  )
}
