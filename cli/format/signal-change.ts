// Formats a change of a signal as one line of text.
import type { OutputRow } from '../terminal/output.ts'

/** Time, signal, each field with its old and new value, author and reason. */
export function formatSignalChange(change: OutputRow): string {
  const fields = (change.fields as readonly OutputRow[]).map(
    ({ field, from, to }) => `${field} ${formatChangedValue(from)} → ${formatChangedValue(to)}`,
  )
  const reason = change.rationale === undefined ? '' : ` (${change.rationale})`
  return `${change.at}  ${change.signal_id}  ${fields.join(', ')}  by ${change.by}${reason}`
}

function formatChangedValue(value: unknown): string {
  if (value === null || value === undefined) return '-'
  return typeof value === 'string' ? value : JSON.stringify(value)
}
