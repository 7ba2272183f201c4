// The value codes of each record side by side, so that reading a record is one memory access.
import type { DictionaryColumn } from '../text/dictionary.ts'

/**
 * Value codes by row: row `r` has `values[r * width]` to `values[(r + 1) * width]`, one for each field; -1 is missing.
 */
export type RowTable = { readonly rows: number; readonly width: number; readonly values: Int32Array }

export function buildRowTable(fields: readonly { readonly column: DictionaryColumn }[]): RowTable {
  const width = fields.length
  const rows = fields[0]?.column.codes.length ?? 0
  const values = new Int32Array(rows * width)
  for (const [field, { column }] of fields.entries()) {
    for (let row = 0; row < rows; row++) values[row * width + field] = column.codes[row]!
  }
  return { rows, width, values }
}

/** Draws about `count` distinct rows, ascending and independently, since adjacent rows may be duplicates. */
export function drawRows(rows: number, count: number, random: () => number): Int32Array {
  const part = count / rows
  const drawn: number[] = []
  for (let row = 0; row < rows; row++) if (part >= 1 || random() < part) drawn.push(row)
  return Int32Array.from(drawn)
}
