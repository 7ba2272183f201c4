// Blocks under the columns of a dataset: files may have them in another order, or lack some.
import type { DataBlock, TextColumn } from '../../../kernel/data/data-block.ts'
import type { DataSchema } from '../../../kernel/data/data-schema.ts'

/** The columns of the schema, in its order; undefined where the block has another one. */
export function alignBlock(block: DataBlock, schema: DataSchema): DataBlock | undefined {
  const { columns, rows } = block
  if (columns.length === schema.length && schema.every(({ name }, at) => columns[at]?.name === name)) return block
  const byName = new Map(columns.map((column) => [column.name, column]))
  const missing = new Int32Array(rows).fill(-1)
  const aligned = schema.map(
    ({ name }): TextColumn => byName.get(name) ?? { name, bytes: new Uint8Array(0), starts: missing, ends: missing },
  )
  return aligned.filter(({ name }) => byName.has(name)).length === columns.length
    ? { ...block, columns: aligned }
    : undefined
}

/** Whether a row of the block has a value in the column at this position. */
export function hasValue({ columns, rows }: DataBlock, at: number): boolean {
  const starts = columns[at]?.starts
  for (let row = 0; row < rows; row++) if ((starts?.[row] ?? -1) >= 0) return true
  return false
}
