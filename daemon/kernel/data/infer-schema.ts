// Infers the schema of a data file from its first records.
import type { DataBlock, TextColumn } from './data-block.ts'
import { type ColumnType, type DataSchema, hasOffset, parseTyped } from './data-schema.ts'

/** Types that are inferred, the narrowest first; text fits everything. */
const inferredTypes = ['boolean', 'int64', 'double', 'date', 'timestamp'] as const satisfies readonly ColumnType[]

/**
 * Returns for each selected column the first type that every value of the sample has: `boolean`, `int64`, `double`, `date`,
 * `timestamp` with an offset, else `text`. Nothing is lost by it: a number with leading zeros or more digits than a double keeps
 * stays text, and so does a column without values. Later values may be of another type: the sample does not bind them.
 */
export function inferSchema(sample: DataBlock): DataSchema {
  return sample.columns.map((column) => ({ name: column.name, type: inferType(column, sample.rows) }))
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
    types = types.filter((type) => {
      return parseTyped(type, text) !== undefined && (type !== 'timestamp' || hasOffset(text))
    })
  }
  return (hasValue ? types[0] : undefined) ?? 'text'
}
