// Cells of CSV files that a spreadsheet would run as a formula: written with an apostrophe before them, and read without it.

/** A plain number may have a sign: it is not a formula. */
const number = String.raw`\d+(?:[.,]\d+)?(?:[eE][+-]?\d+)?$`

/**
 * A telephone number in international form, of 6 to 15 digits (E.164): it has no letter, and so no function and no reference, and no
 * operator either: a hyphen is one, except in what no spreadsheet takes for a formula because a blank stands between two numbers.
 * `+1-2` is a difference, `+1 (555) 123-4567` is not.
 */
const telephone = String.raw`(?=[^]{6,31}$)(?=(?:\D*\d){6,15}\D*$)\d(?:[\d .()]*|[\d .()-]*[\d)] +[\d(][\d .()-]*)$`

/**
 * Spreadsheets take a cell for a formula by its first character; some drop a control character before it, and some read
 * full-width signs as the plain ones. Source: OWASP ASVS 5.0, 1.2.10; the exceptions are those of decision 0101.
 */
const formulaPattern = new RegExp(`^'*(?:[=@\\0\\t\\n\\r＝＠＋－]|-(?!${number})|\\+(?!${number}|${telephone}))`)

/** The text as a cell that no spreadsheet runs. A text that begins like such a cell gets an apostrophe, too. */
export function escapeFormula(text: string): string {
  return formulaPattern.test(text) ? `'${text}` : text
}

/** The text of a cell that `escapeFormula` wrote; any other text as it is. */
export function unescapeFormula(cell: string): string {
  return cell.startsWith("'") && formulaPattern.test(cell) ? cell.slice(1) : cell
}
