// What is known of a record in one place: the numbers of its values side by side, whatever the number of records.
import type { DictionaryColumn } from '../text/dictionary.ts'

/** Row `r` has `values[r * width]` to `values[(r + 1) * width]`, one for each field; -1 is no value. */
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

/** About so many different rows, rising, each as likely as any other whatever its neighbours: twins may lie side by side. */
export function drawRows(rows: number, wanted: number, random: () => number): Int32Array {
  const part = wanted / rows
  const drawn: number[] = []
  for (let row = 0; row < rows; row++) if (part >= 1 || random() < part) drawn.push(row)
  return Int32Array.from(drawn)
}
