// Values of Parquet columns as the text that a person would write for them, exact to the last digit.
import type { SchemaElement } from 'hyparquet'
import type { TimeUnit, ValueType } from '../../../daemon/kernel/data/data-schema.ts'

/** Formats a stored value as text or as UTF-8 bytes; undefined for a missing value. */
export type TextFormatter = (stored: unknown) => string | Uint8Array | undefined

/** The text form of the values of a column, and the type by which that text is written again; `text` where there is no other. */
export type ValueForm = { readonly format: TextFormatter; readonly stated: ValueType }

/** As many digits as the widest decimals of other programs have. */
const max_decimal_places = 76

/** How a column of this type is written; what it is called, where it has no text form. */
export function selectValueForm(element: SchemaElement): ValueForm | string {
  const { type = 'none' } = element
  const meaning = readAnnotation(element)
  const { scale = 0 } = element
  if (meaning === 'DECIMAL' && Math.abs(scale) > max_decimal_places) return `${type} DECIMAL of ${scale} places`
  const form = forms[`${type} ${meaning}`] ?? forms[`* ${meaning}`]
  return form ? form(element) : `${type} ${meaning}`.trim()
}

/** The newer annotation before the older one; both say the same where both are. */
function readAnnotation({ converted_type, logical_type }: SchemaElement): string {
  if (logical_type?.type === 'INTEGER') return logical_type.isSigned ? '' : 'UNSIGNED'
  if (logical_type?.type === 'TIMESTAMP' || logical_type?.type === 'TIME') {
    return `${logical_type.type}_${logical_type.unit}`
  }
  const meaning: string = logical_type?.type ?? converted_type ?? ''
  if (/^INT_\d+$/.test(meaning)) return ''
  return /^UINT_\d+$/.test(meaning) ? 'UNSIGNED' : meaning
}

const form = (format: TextFormatter, type: ValueType['type'] = 'text'): ValueForm => ({ format, stated: { type } })

const asBytes = () => form((stored) => stored as Uint8Array)
const asDigits = (type: ValueType['type']) => () => form((stored) => String(stored), type)

const forms: Readonly<Record<string, (element: SchemaElement) => ValueForm>> = {
  'BYTE_ARRAY ': asBytes,
  'BYTE_ARRAY STRING': asBytes,
  'BYTE_ARRAY UTF8': asBytes,
  'BYTE_ARRAY ENUM': asBytes,
  'BYTE_ARRAY JSON': asBytes,
  'INT32 ': asDigits('int32'),
  'INT64 ': asDigits('int64'),
  'BOOLEAN ': asDigits('boolean'),
  'INT32 UNSIGNED': () => form((stored) => String((stored as number) >>> 0), 'int64'),
  'INT64 UNSIGNED': () => form((stored) => String(BigInt.asUintN(64, stored as bigint))),
  'FLOAT ': () => form((stored) => formatFloat(stored as number, formatSingle), 'double'),
  'DOUBLE ': () => form((stored) => formatFloat(stored as number, String), 'double'),
  'INT32 DATE': () => form((stored) => formatDay(BigInt(stored as number) * 86_400_000n), 'date'),
  'INT64 TIMESTAMP_MILLIS': (element) => timestampForm('ms', isInstant(element)),
  'INT64 TIMESTAMP_MICROS': (element) => timestampForm('us', isInstant(element)),
  'INT64 TIMESTAMP_NANOS': (element) => timestampForm('ns', isInstant(element)),
  // Says nothing about an offset: some programs write instants by it, and others local times.
  'INT96 ': () => timestampForm('ns', false),
  'INT32 TIME_MILLIS': (element) => timeForm('ms', isInstant(element)),
  'INT64 TIME_MICROS': (element) => timeForm('us', isInstant(element)),
  'INT64 TIME_NANOS': (element) => timeForm('ns', isInstant(element)),
  'FIXED_LEN_BYTE_ARRAY UUID': () => form((stored) => formatUuid(stored as Uint8Array)),
  '* DECIMAL': ({ scale = 0 }) => form((stored) => formatDecimal(readInteger(stored), scale)),
  '* NULL': () => form(() => undefined),
}

/** Whether the file states that times are in UTC. The older annotations always mean it. */
function isInstant({ logical_type: stated }: SchemaElement): boolean {
  return stated?.type === 'TIMESTAMP' || stated?.type === 'TIME' ? stated.isAdjustedToUTC : true
}

const per_second: Readonly<Record<TimeUnit, bigint>> = { ms: 1_000n, us: 1_000_000n, ns: 1_000_000_000n }

function timestampForm(unit: TimeUnit, isUtc: boolean): ValueForm {
  const offset = isUtc ? 'Z' : ''
  const format = (stored: unknown) => `${formatTimestamp(stored as bigint, per_second[unit])}${offset}`
  return { format, stated: { type: isUtc ? 'timestamp' : 'local_timestamp', unit } }
}

function timeForm(unit: TimeUnit, isUtc: boolean): ValueForm {
  const offset = isUtc ? 'Z' : ''
  return form((stored) => `${formatTime(BigInt(stored as number | bigint), per_second[unit])}${offset}`)
}

/** NaN counts as a missing value, as tables of other programs write their gaps. */
function formatFloat(stored: number, written: (stored: number) => string): string | undefined {
  return Number.isNaN(stored) ? undefined : written(stored)
}

/** The fewest digits that stand for the same number of 32 bits: `0.1`, where 64 bits would say 0.10000000149011612. */
function formatSingle(stored: number): string {
  for (let count = 6; count < 9; count++) {
    const shorter = Number(stored.toPrecision(count))
    if (Math.fround(shorter) === stored) return String(shorter)
  }
  return String(Number(stored.toPrecision(9)))
}

/** Two's complement, the highest byte first. */
function readInteger(stored: unknown): bigint {
  if (!(stored instanceof Uint8Array)) return BigInt(stored as number | bigint)
  const hex = Buffer.from(stored.buffer, stored.byteOffset, stored.byteLength).toString('hex')
  return BigInt.asIntN(stored.length * 8, BigInt(`0x${hex || '0'}`))
}

function formatDecimal(whole: bigint, scale: number): string {
  if (scale <= 0) return String(whole * 10n ** BigInt(-scale))
  const sign = whole < 0n ? '-' : ''
  const text = String(whole < 0n ? -whole : whole).padStart(scale + 1, '0')
  return `${sign}${text.slice(0, -scale)}.${text.slice(-scale)}`
}

const day_ms = 86_400_000n

/** `1980-02-29`; years beyond four digits as ISO 8601 extends them. */
function formatDay(ms: bigint): string {
  const [day = ''] = new Date(Number(ms)).toISOString().split('T')
  return day
}

function formatTimestamp(stored: bigint, per_second: bigint): string {
  const day_length = (day_ms / 1_000n) * per_second
  const in_day = ((stored % day_length) + day_length) % day_length
  const day = formatDay(((stored - in_day) / day_length) * day_ms)
  return `${day}T${formatTime(in_day, per_second)}`
}

/** `09:30:00`, with as many decimals as are not nought. */
function formatTime(stored: bigint, per_second: bigint): string {
  const seconds = stored / per_second
  const parts = [seconds / 3_600n, (seconds / 60n) % 60n, seconds % 60n].map((part) => String(part).padStart(2, '0'))
  const rest = String(stored % per_second).padStart(String(per_second).length - 1, '0')
  const decimals = rest.replace(/0+$/, '')
  return decimals === '' ? parts.join(':') : `${parts.join(':')}.${decimals}`
}

function formatUuid(stored: Uint8Array): string {
  const hex = Buffer.from(stored).toString('hex')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
