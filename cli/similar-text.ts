// Similar signals as people read them.
import { type Row, table } from './output.ts'
import { signalColumns } from './signal-text.ts'
import type { Terminal } from './terminal.ts'

export type Similar = { readonly signal: Row; readonly score: number; readonly reasons: readonly Row[] }

/** A line each: the score, the signal, and what it rests on. */
export function similarText(terminal: Terminal, items: readonly Similar[]): string {
  const rows = items.map(({ signal, score, reasons }) => ({ ...signal, score, reasons }))
  const why = (row: Row) =>
    (row.reasons as readonly Row[]).map(({ reason, points }) => `${reason} ${points}`).join(', ')
  const columns = ['score', ...signalColumns.filter((each) => each !== 'severity'), { heading: 'why', cell: why }]
  return table(terminal, rows, columns, 'no signal is like it')
}
