// The part of a usual record that a pair shows: how much a person can see in order to decide about it.
import type { LensRecords } from '../records/records.ts'

/**
 * Returns a function of two rows: fields in which both have a value, as a share of those of the median record, and at most 1.
 * The median makes no difference between fields that most records lack and fields that the data has not at all.
 */
export function createComparedShare({ rows, fields }: LensRecords): (left: number, right: number) => number {
  const has = (row: number, field: number) => (fields[field]?.column.codes[row] ?? -1) >= 0
  const counts = new Uint8Array(rows)
  for (let row = 0; row < rows; row++)
    counts[row] = fields.reduce((sum, _, field) => sum + (has(row, field) ? 1 : 0), 0)
  const usual = Math.max(1, counts.sort()[rows >> 1] ?? 1)
  return (left, right) => {
    const compared = fields.reduce((sum, _, field) => sum + (has(left, field) && has(right, field) ? 1 : 0), 0)
    return Math.min(1, compared / usual)
  }
}
