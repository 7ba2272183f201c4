// Values of Parquet columns as the text that a person would write for them, exact to the last digit.
import type { SchemaElement } from 'hyparquet'

/** From what is stored to text, or the bytes of a text; undefined where there is no value. */
export type TextForm = (stored: unknown) => string | Uint8Array | undefined

/** How a column of this type is written; what it is called, where it has no text form. */
export function textFormOf(element: SchemaElement): TextForm | string {
  const { type = 'none' } = element
  const meaning = meaningOf(element)
  const form = forms[`${type} ${meaning}`] ?? forms[`* ${meaning}`]
  return form ? form(element) : `${type} ${meaning}`.trim()
}

/** The newer annotation before the older one; both say the same where both are. */
function meaningOf({ converted_type, logical_type }: SchemaElement): string {
  if (logical_type?.type === 'INTEGER') return logical_type.isSigned ? '' : 'UNSIGNED'
  if (logical_type?.type === 'TIMESTAMP' || logical_type?.type === 'TIME') {
    return `${logical_type.type}_${logical_type.unit}`
  }
  const meaning: string = logical_type?.type ?? converted_type ?? ''
  if (/^INT_\d+$/.test(meaning)) return ''
  return /^UINT_\d+$/.test(meaning) ? 'UNSIGNED' : meaning
}

const bytes = () => (stored: unknown) => stored as Uint8Array
const digits = () => (stored: unknown) => String(stored)

const forms: Readonly<Record<string, (element: SchemaElement) => TextForm>> = {
  'BYTE_ARRAY ': bytes,
  'BYTE_ARRAY STRING': bytes,
  'BYTE_ARRAY UTF8': bytes,
  'BYTE_ARRAY ENUM': bytes,
  'BYTE_ARRAY JSON': bytes,
  'INT32 ': digits,
  'INT64 ': digits,
  'BOOLEAN ': digits,
  'INT32 UNSIGNED': () => (stored) => String((stored as number) >>> 0),
  'INT64 UNSIGNED': () => (stored) => String(BigInt.asUintN(64, stored as bigint)),
  'FLOAT ': () => (stored) => floating(stored as number, shortestSingle),
  'DOUBLE ': () => (stored) => floating(stored as number, String),
  'INT32 DATE': () => (stored) => dayOf(BigInt(stored as number) * 86_400_000n),
  'INT64 TIMESTAMP_MILLIS': () => (stored) => instantOf(stored as bigint, 1_000n),
  'INT64 TIMESTAMP_MICROS': () => (stored) => instantOf(stored as bigint, 1_000_000n),
  'INT64 TIMESTAMP_NANOS': () => (stored) => instantOf(stored as bigint, 1_000_000_000n),
  'INT96 ': () => (stored) => instantOf(stored as bigint, 1_000_000_000n),
  'INT32 TIME_MILLIS': () => (stored) => timeOf(BigInt(stored as number), 1_000n),
  'INT64 TIME_MICROS': () => (stored) => timeOf(stored as bigint, 1_000_000n),
  'INT64 TIME_NANOS': () => (stored) => timeOf(stored as bigint, 1_000_000_000n),
  'FIXED_LEN_BYTE_ARRAY UUID': () => (stored) => uuidOf(stored as Uint8Array),
  '* DECIMAL':
    ({ scale = 0 }) =>
    (stored) =>
      decimalOf(wholeOf(stored), scale),
  '* NULL': () => () => undefined,
}

/** What is no number is no value, as tables of other programs write their gaps. */
function floating(stored: number, written: (stored: number) => string): string | undefined {
  return Number.isNaN(stored) ? undefined : written(stored)
}

/** The fewest digits that stand for the same number of 32 bits: `0.1`, where 64 bits would say 0.10000000149011612. */
function shortestSingle(stored: number): string {
  for (let count = 6; count < 9; count++) {
    const shorter = Number(stored.toPrecision(count))
    if (Math.fround(shorter) === stored) return String(shorter)
  }
  return String(Number(stored.toPrecision(9)))
}

/** Two's complement, the highest byte first. */
function wholeOf(stored: unknown): bigint {
  if (!(stored instanceof Uint8Array)) return BigInt(stored as number | bigint)
  const hex = Buffer.from(stored.buffer, stored.byteOffset, stored.byteLength).toString('hex')
  return BigInt.asIntN(stored.length * 8, BigInt(`0x${hex || '0'}`))
}

function decimalOf(whole: bigint, scale: number): string {
  if (scale <= 0) return String(whole * 10n ** BigInt(-scale))
  const sign = whole < 0n ? '-' : ''
  const text = String(whole < 0n ? -whole : whole).padStart(scale + 1, '0')
  return `${sign}${text.slice(0, -scale)}.${text.slice(-scale)}`
}

const day_ms = 86_400_000n

/** `1980-02-29`; years beyond four digits as ISO 8601 extends them. */
function dayOf(ms: bigint): string {
  const [day = ''] = new Date(Number(ms)).toISOString().split('T')
  return day
}

/** A day alone at midnight, since many programs have no other way to write a day; with its time otherwise. */
function instantOf(stored: bigint, per_second: bigint): string {
  const day_length = (day_ms / 1_000n) * per_second
  const in_day = ((stored % day_length) + day_length) % day_length
  const day = dayOf(((stored - in_day) / day_length) * day_ms)
  return in_day === 0n ? day : `${day}T${timeOf(in_day, per_second)}`
}

/** `09:30:00`, with as many decimals as are not nought. */
function timeOf(stored: bigint, per_second: bigint): string {
  const seconds = stored / per_second
  const parts = [seconds / 3_600n, (seconds / 60n) % 60n, seconds % 60n].map((part) => String(part).padStart(2, '0'))
  const rest = String(stored % per_second).padStart(String(per_second).length - 1, '0')
  const decimals = rest.replace(/0+$/, '')
  return decimals === '' ? parts.join(':') : `${parts.join(':')}.${decimals}`
}

function uuidOf(stored: Uint8Array): string {
  const hex = Buffer.from(stored).toString('hex')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
