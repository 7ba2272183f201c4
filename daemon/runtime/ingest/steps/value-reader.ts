// Reads values as they are compared: numbers and times as numbers, texts as texts.
import { readText } from '../../../kernel/data/check-values.ts'
import type { TextColumn } from '../../../kernel/data/data-block.ts'
import { parseTyped, type TimeUnit, type ValueType } from '../../../kernel/data/data-schema.ts'
import { readDay, readDecimal, readInteger, readTime, readTruth } from '../../../kernel/data/value-bytes.ts'

/** Integers and times beyond those that a number keeps are bigints; both kinds compare with each other exactly. */
export type ComparableValue = number | bigint | string

type ByteReader = (bytes: Uint8Array, start: number, end: number) => number

const per_second: Readonly<Record<TimeUnit, number>> = { ms: 1e3, us: 1e6, ns: 1e9 }

const byteReaders: Readonly<Record<Exclude<ValueType['type'], 'text'>, (unit: TimeUnit) => ByteReader>> = {
  boolean: () => readTruth,
  int32: () => readInteger,
  int64: () => readInteger,
  double: () => readDecimal,
  date: () => readDay,
  timestamp: (unit) => (bytes, start, end) => readTime(bytes, start, end, true, per_second[unit]),
  local_timestamp: (unit) => (bytes, start, end) => readTime(bytes, start, end, false, per_second[unit]),
}

/** Returns a function for a value of a row; it returns undefined for a missing one. */
export function valueReader(type: ValueType): (column: TextColumn, row: number) => ComparableValue | undefined {
  if (type.type === 'text') return readText
  const readBytes = byteReaders[type.type](type.unit ?? 'us')
  return (column, row) => {
    const start = column.starts[row] ?? -1
    if (start < 0) return undefined
    const usual = readBytes(column.bytes, start, column.ends[row] ?? start)
    if (!Number.isNaN(usual)) return usual
    const value = parseTyped(type, readText(column, row) ?? '')
    return typeof value === 'boolean' ? Number(value) : value
  }
}
