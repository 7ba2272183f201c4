// The schema of a data file: what the file states, and otherwise what its first records allow.
import type { DataBlock, TextColumn } from './data-block.ts'
import { type ColumnType, type DataSchema, parseTyped } from './data-schema.ts'

/** Types that are inferred, the narrowest first; text fits everything. */
const inferredTypes = [
  'boolean',
  'int64',
  'double',
  'date',
  'timestamp',
  'local_timestamp',
] as const satisfies readonly ColumnType[]

/**
 * Returns for each selected column the type that its file states. Where the format states none: the first type that every value
 * of the sample has, of `boolean`, `int64`, `double`, `date`, `timestamp` and `local_timestamp`, else `text`. Nothing is lost by
 * it: a number with leading zeros or more digits than a double keeps stays text, and so does a column without values. Later values
 * may be of another type: the sample does not bind them.
 */
export function inferSchema(sample: DataBlock): DataSchema {
  return sample.columns.map((column) => {
    return { name: column.name, ...(column.stated ?? { type: inferType(column, sample.rows) }) }
  })
}

function inferType({ bytes, starts, ends }: TextColumn, rows: number): ColumnType {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  let types: readonly ColumnType[] = inferredTypes
  let hasValue = false
  for (let row = 0; row < rows && types.length > 0; row++) {
    const start = starts[row] ?? -1
    if (start < 0) continue
    hasValue = true
    const text = decoder.decode(bytes.subarray(start, ends[row]))
    types = types.filter((type) => parseTyped({ type }, text) !== undefined)
  }
  return (hasValue ? types[0] : undefined) ?? 'text'
}
