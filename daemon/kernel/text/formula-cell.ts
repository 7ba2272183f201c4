// Cells of CSV files that a spreadsheet would run as a formula: written with an apostrophe before them, and read without it.

/**
 * Spreadsheets take a cell for a formula by its first character; some drop a control character before it, and some read
 * full-width signs as the plain ones. A plain number with a sign is none. Source: OWASP ASVS 5.0, 1.2.10.
 */
const formulaPattern = /^'*(?:[=@\0\t\n\r＝＠＋－]|[+-](?!\d+(?:[.,]\d+)?(?:[eE][+-]?\d+)?$))/

/** The text as a cell that no spreadsheet runs. A text that begins like such a cell gets an apostrophe, too. */
export function escapeFormula(text: string): string {
  return formulaPattern.test(text) ? `'${text}` : text
}

/** The text of a cell that `escapeFormula` wrote; any other text as it is. */
export function unescapeFormula(cell: string): string {
  return cell.startsWith("'") && formulaPattern.test(cell) ? cell.slice(1) : cell
}
