// Lines of a file of labels in CSV.
import { escapeFormula } from '../../../kernel/text/formula-cell.ts'

/** Columns of a file of labels; a file to fill in by hand has the values after them. */
export const label_columns = ['source_l', 'id_l', 'source_r', 'id_r', 'match'] as const

/** One line of CSV without its end. Cells that a spreadsheet would run as a formula are escaped. */
export function formatCsvLine(cells: readonly string[]): string {
  return cells.map(formatCsvCell).join(',')
}

function formatCsvCell(text: string): string {
  const cell = escapeFormula(text)
  return /[",\r\n]|^\s|\s$/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell
}
