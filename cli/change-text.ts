// Changes of signals as people read them: one line each.
import { printable, type Row } from './output.ts'

/** When, what, by whom; each field with its old value and the new one. */
export function changeLine(change: Row): string {
  const said = (change.fields as readonly Row[]).map(
    ({ field, from, to }) => `${field} ${worded(from)} → ${worded(to)}`,
  )
  const why = change.rationale === undefined ? '' : ` (${change.rationale})`
  const line = `${change.at}  ${change.signal_id}  ${said.join(', ')}  by ${change.by}${why}`
  return printable(line).replaceAll('\n', '\\n')
}

function worded(value: unknown): string {
  if (value === null || value === undefined) return '-'
  return typeof value === 'string' ? value : JSON.stringify(value)
}
