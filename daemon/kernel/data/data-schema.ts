// Types of the columns of a data file, and the values that their texts stand for.
import * as z from 'zod'

/**
 * - `text`: any text.
 * - `boolean`: `true` or `false`, in any case.
 * - `int32`, `int64`: an integer as a number is written: `007`, `+7` and `-0` are text.
 * - `double`: a number that a double keeps: of at most 15 significant digits, or the shortest text of the double.
 * - `date`: a day of the calendar, `2024-02-29`.
 * - `timestamp`: an instant, `2024-02-29T13:00:00.5Z`: microseconds in UTC. A text without an offset is taken as UTC where the type
 *   is known, and is not taken as a timestamp where the type is inferred.
 */
const columnTypes = ['text', 'boolean', 'int32', 'int64', 'double', 'date', 'timestamp'] as const
export type ColumnType = (typeof columnTypes)[number]

const dataColumn = z.strictObject({
  name: z.string(),
  type: z.enum(columnTypes),
  required: z.boolean().optional().describe('Whether every row has a value.'),
})
/** A column of a schema. */
export type DataColumn = z.infer<typeof dataColumn>
export type DataSchema = readonly DataColumn[]

/** A value by the type of its column; a date in days and a timestamp in microseconds since 1970. */
export type TypedValue = string | boolean | number | bigint

/** Returns the value of a text; undefined where the text is not of the type. */
export function parseTyped(type: ColumnType, text: string): TypedValue | undefined {
  return parsers[type](text)
}

const integerPattern = /^(?:0|-?[1-9]\d*)$/
const numberPattern = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/
const timestampPattern = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,6}))?)?(Z|[+-]\d\d:\d\d)?)?$/

const parsers: Readonly<Record<ColumnType, (text: string) => TypedValue | undefined>> = {
  text: (text) => text,
  boolean: (text) => (/^(?:true|false)$/i.test(text) ? text.toLowerCase() === 'true' : undefined),
  int32: (text) => (integerPattern.test(text) && Number(text) === (Number(text) | 0) ? Number(text) : undefined),
  int64(text) {
    if (!integerPattern.test(text) || text.length > 20) return undefined
    const value = BigInt(text)
    return value === BigInt.asIntN(64, value) ? value : undefined
  },
  double: parseDouble,
  date(text) {
    const ms = parseDay(text)
    return ms === undefined ? undefined : ms / day_ms
  },
  timestamp: parseTimestamp,
}

/** Whether a text is an instant whatever the site's time zone: it has an offset. */
export function hasOffset(text: string): boolean {
  return timestampPattern.exec(text)?.[6] !== undefined
}

/** Below it a double keeps fewer digits. */
const least_normal_double = 2.2250738585072014e-308

function parseDouble(text: string): number | undefined {
  if (!numberPattern.test(text)) return undefined
  const value = Number(text)
  if (!Number.isFinite(value) || Object.is(value, -0)) return undefined
  const digits = countSignificantDigits(text)
  const isExact = value === 0 ? digits === 0 : Math.abs(value) >= least_normal_double && digits <= 15
  return isExact || String(value) === text ? value : undefined
}

function countSignificantDigits(text: string): number {
  const [mantissa = ''] = text.split(/[eE]/)
  return mantissa.replace(/[-.]/g, '').replace(/^0+/, '').length
}

const day_ms = 86_400_000

/** Milliseconds from 1970 to the day; undefined for a day that no calendar has. */
function parseDay(text: string): number | undefined {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return undefined
  const ms = Date.parse(`${text}T00:00:00Z`)
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text) ? ms : undefined
}

function parseTimestamp(text: string): bigint | undefined {
  const match = timestampPattern.exec(text)
  if (!match) return undefined
  const [, day = '', hour = '0', minute = '0', second = '0', fraction = '', offset = 'Z'] = match
  const ms = parseDay(day)
  if (ms === undefined || Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined
  const [, sign = '+', hours = '0', minutes = '0'] = /^([+-])(\d\d):(\d\d)$/.exec(offset) ?? []
  if (Number(hours) > 14 || Number(minutes) > 59) return undefined
  const offset_minutes = (Number(hours) * 60 + Number(minutes)) * (sign === '-' ? -1 : 1)
  const seconds = (Number(hour) * 60 + Number(minute) - offset_minutes) * 60 + Number(second)
  return BigInt(ms / 1_000 + seconds) * 1_000_000n + BigInt(fraction.padEnd(6, '0'))
}
