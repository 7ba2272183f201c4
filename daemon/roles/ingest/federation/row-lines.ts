// Rows of a sent dataset as JSON lines: the same bytes at the sender, which digests them, and at the receiver, which lands them.
import { parseTyped } from '../../../kernel/data/data-schema.ts'
import { max_part_line_bytes, type SentColumn } from './model.ts'

/** A line with its end: all columns in their order, a missing value as null. Numbers and truths are written as such where JSON has them. */
export function renderRow(columns: readonly SentColumn[], row: readonly (string | null)[]): string {
  const members = columns.map((column, at) => {
    const text = row[at] ?? null
    return `${JSON.stringify(column.name)}:${text === null ? 'null' : renderValue(column, text)}`
  })
  return `{${members.join(',')}}\n`
}

/** The lines of a part; undefined where they are more than a part may have. */
export function* renderLines(
  columns: readonly SentColumn[],
  rows: readonly (readonly (string | null)[])[],
): Generator<undefined, string | undefined> {
  const lines: string[] = []
  let bytes = 0
  for (const row of rows) {
    const line = renderRow(columns, row)
    bytes += Buffer.byteLength(line)
    if (bytes > max_part_line_bytes) return undefined
    lines.push(line)
    yield
  }
  return lines.join('')
}

function renderValue({ type, unit }: SentColumn, text: string): string {
  const isPlain = type === 'boolean' || type === 'int32' || type === 'int64' || type === 'double'
  const value = isPlain ? parseTyped({ type, ...(unit && { unit }) }, text) : undefined
  if (value === undefined || (typeof value === 'number' && !Number.isFinite(value))) return JSON.stringify(text)
  // As it is written: a number of JavaScript would lose digits of a large integer.
  return typeof value === 'boolean' ? String(value) : text
}
