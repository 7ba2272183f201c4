// Changes of signals as people read them: one line each.
import { escapeControls, type OutputRow } from '../terminal/output.ts'

/** When, what, by whom; each field with its old value and the new one. */
export function formatSignalChange(change: OutputRow): string {
  const said = (change.fields as readonly OutputRow[]).map(
    ({ field, from, to }) => `${field} ${formatChangedValue(from)} → ${formatChangedValue(to)}`,
  )
  const why = change.rationale === undefined ? '' : ` (${change.rationale})`
  const line = `${change.at}  ${change.signal_id}  ${said.join(', ')}  by ${change.by}${why}`
  return escapeControls(line).replaceAll('\n', '\\n')
}

function formatChangedValue(value: unknown): string {
  if (value === null || value === undefined) return '-'
  return typeof value === 'string' ? value : JSON.stringify(value)
}
