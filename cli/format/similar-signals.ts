// Formats similar signals as a table.
import { formatTable, type OutputRow } from '../terminal/output.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { signalColumns } from './signal.ts'

export type SimilarSignalRow = {
  readonly signal: OutputRow
  readonly score: number
  readonly reasons: readonly OutputRow[]
}

/** One row for each signal: its score, its fields and the reasons for the score. */
export function formatSimilarSignals(terminal: Terminal, items: readonly SimilarSignalRow[]): string {
  const rows = items.map(({ signal, score, reasons }) => ({ ...signal, score, reasons }))
  const formatReasons = (row: OutputRow) =>
    (row.reasons as readonly OutputRow[]).map(({ reason, points }) => `${reason} ${points}`).join(', ')
  const columns = [
    'score',
    ...signalColumns.filter((column) => column !== 'severity'),
    { heading: 'why', cell: formatReasons },
  ]
  return formatTable(terminal, rows, columns, 'No similar signals')
}
