// Tests whether values are of the types of their columns, without a text of each.
import type { DataBlock, TextColumn } from './data-block.ts'
import { type DataColumn, type DataSchema, parseTyped, type TimeUnit } from './data-schema.ts'
import { readDay, readDecimal, readInteger, readTime, readTruth } from './value-bytes.ts'

type ValueTest = (bytes: Uint8Array, start: number, end: number) => boolean

const per_second: Readonly<Record<TimeUnit, number>> = { ms: 1e3, us: 1e6, ns: 1e9 }

/** Tests that know the usual forms of each type. */
const usualForms: Readonly<Record<Exclude<DataColumn['type'], 'text'>, (unit: TimeUnit) => ValueTest>> = {
  boolean: () => (bytes, start, end) => !Number.isNaN(readTruth(bytes, start, end)),
  int32: () => (bytes, start, end) => {
    const value = readInteger(bytes, start, end)
    return value === (value | 0)
  },
  int64: () => (bytes, start, end) => !Number.isNaN(readInteger(bytes, start, end)),
  double: () => (bytes, start, end) => !Number.isNaN(readDecimal(bytes, start, end)),
  date: () => (bytes, start, end) => !Number.isNaN(readDay(bytes, start, end)),
  timestamp: (unit) => (bytes, start, end) => !Number.isNaN(readTime(bytes, start, end, true, per_second[unit])),
  local_timestamp: (unit) => (bytes, start, end) => !Number.isNaN(readTime(bytes, start, end, false, per_second[unit])),
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** Text of a value; undefined for a missing one. */
export function readText({ bytes, starts, ends }: TextColumn, row: number): string | undefined {
  const start = starts[row] ?? -1
  return start < 0 ? undefined : decoder.decode(bytes.subarray(start, ends[row]))
}

/** Reports each row whose value is not of the type of its column, or is missing where it must not be. */
export function findMisfits(
  block: DataBlock,
  schema: DataSchema,
  onMisfit: (row: number, column: DataColumn, text: string | undefined) => void,
): void {
  for (const [at, column] of schema.entries()) {
    const values = block.columns[at]
    if (values && (column.type !== 'text' || column.required)) findColumnMisfits(values, block.rows, column, onMisfit)
  }
}

function findColumnMisfits(
  values: TextColumn,
  rows: number,
  column: DataColumn,
  onMisfit: (row: number, column: DataColumn, text: string | undefined) => void,
): void {
  const { bytes, starts, ends } = values
  const isUsual: ValueTest = column.type === 'text' ? () => true : usualForms[column.type](column.unit ?? 'us')
  for (let row = 0; row < rows; row++) {
    const start = starts[row]!
    if (start < 0 ? !column.required : isUsual(bytes, start, ends[row]!)) continue
    const text = readText(values, row)
    if (text === undefined || parseTyped(column, text) === undefined) onMisfit(row, column, text)
  }
}

/** The block without these rows. */
export function leaveOutRows(block: DataBlock, left: ReadonlySet<number>): DataBlock {
  const kept = Int32Array.from({ length: block.rows - left.size })
  let rows = 0
  for (let row = 0; row < block.rows; row++) if (!left.has(row)) kept[rows++] = row
  const columns = block.columns.map((column) => ({
    ...column,
    starts: kept.map((row) => column.starts[row]!),
    ends: kept.map((row) => column.ends[row]!),
  }))
  return { ...block, rows, columns, lines: block.lines && kept.map((row) => block.lines?.[row] ?? 0) }
}
