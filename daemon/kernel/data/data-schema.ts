// Types of the columns of a data file, and the values that their texts stand for.
import * as z from 'zod'

/**
 * - `text`: any text.
 * - `boolean`: `true` or `false`, in any case.
 * - `int32`, `int64`: an integer as a number is written: `007`, `+7` and `-0` are text.
 * - `double`: a number that a double keeps: of at most 15 significant digits, or the shortest text of the double; `Infinity`.
 * - `date`: a day of the calendar, `2024-02-29`.
 * - `timestamp`: an instant: a time with its offset, `2024-02-29T13:00:00.5Z`.
 * - `local_timestamp`: a time of no known offset, `2024-02-29T13:00:00.5`.
 *
 * Years beyond four digits are written as ISO 8601 extends them: `+012024-02-29`.
 */
const columnTypes = ['text', 'boolean', 'int32', 'int64', 'double', 'date', 'timestamp', 'local_timestamp'] as const
export type ColumnType = (typeof columnTypes)[number]

const timeUnits = ['ms', 'us', 'ns'] as const
export type TimeUnit = (typeof timeUnits)[number]

export const dataColumn = z.strictObject({
  name: z.string(),
  type: z.enum(columnTypes),
  unit: z.enum(timeUnits).optional().describe('Of `timestamp` and `local_timestamp`; default us.'),
  required: z.boolean().optional().describe('Whether every row has a value.'),
})
/** A column of a schema. */
export type DataColumn = z.infer<typeof dataColumn>
export type DataSchema = readonly DataColumn[]

/** What the values of a column are. */
export type ValueType = Pick<DataColumn, 'type' | 'unit'>

/** A value by the type of its column; a date in days and both kinds of timestamp in their unit since 1970. */
export type TypedValue = string | boolean | number | bigint

/** Returns the value of a text; undefined where the text is not of the type, and for a time with more decimals than its unit. */
export function parseTyped({ type, unit = 'us' }: ValueType, text: string): TypedValue | undefined {
  return parsers[type](text, unit)
}

const integerPattern = /^(?:0|-?[1-9]\d*)$/
const numberPattern = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/
const timePattern = /^((?:\d{4}|[+-]\d{6})-\d\d-\d\d)[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?(Z|[+-]\d\d:\d\d)?$/

const parsers: Readonly<Record<ColumnType, (text: string, unit: TimeUnit) => TypedValue | undefined>> = {
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
  timestamp: (text, unit) => parseTime(text, unit, true),
  local_timestamp: (text, unit) => parseTime(text, unit, false),
}

/** Below it a double keeps fewer digits. */
const least_normal_double = 2.2250738585072014e-308

function parseDouble(text: string): number | undefined {
  if (text === 'Infinity' || text === '-Infinity') return Number(text)
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
  if (!/^(?:\d{4}|[+-]\d{6})-\d\d-\d\d$/.test(text)) return undefined
  const ms = Date.parse(`${text}T00:00:00Z`)
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text) ? ms : undefined
}

/** Decimals of a second. */
const decimals_of: Readonly<Record<TimeUnit, number>> = { ms: 3, us: 6, ns: 9 }

function parseTime(text: string, unit: TimeUnit, hasOffset: boolean): bigint | undefined {
  const match = timePattern.exec(text)
  const decimals = decimals_of[unit]
  if (!match || (match[6] !== undefined) !== hasOffset) return undefined
  const [, day = '', hour = '', minute = '', second = '0', fraction = '', offset = 'Z'] = match
  const ms = parseDay(day)
  if (ms === undefined || Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined
  const [, sign = '+', hours = '0', minutes = '0'] = /^([+-])(\d\d):(\d\d)$/.exec(offset) ?? []
  if (Number(hours) > 14 || Number(minutes) > 59 || fraction.length > decimals) return undefined
  const offset_minutes = (Number(hours) * 60 + Number(minutes)) * (sign === '-' ? -1 : 1)
  const seconds = (Number(hour) * 60 + Number(minute) - offset_minutes) * 60 + Number(second)
  const value = BigInt(ms / 1_000 + seconds) * 10n ** BigInt(decimals) + BigInt(fraction.padEnd(decimals, '0'))
  return value === BigInt.asIntN(64, value) ? value : undefined
}
