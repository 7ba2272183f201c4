// Formats results: one JSON document for scripts; tables and fields for people, with colours if the terminal has them.
import { randomBytes } from 'node:crypto'
import { escapeLine } from '../../daemon/kernel/text/escape-line.ts'
import type { Terminal } from './terminal.ts'

export type OutputRow = Readonly<Record<string, unknown>>

/** A heading and a function that reads the cell from a row; a plain name is both. */
export type OutputColumn = string | { readonly heading: string; readonly cell: (row: OutputRow) => unknown }

/** Prints one JSON document, or the text of `human`. */
export function printResult(terminal: Terminal, json: boolean, value: unknown, human: () => string): void {
  terminal.print(json ? JSON.stringify(value) : human())
}

/** Aligned columns under headings; `emptyText` if there are no rows. */
export function formatTable(
  terminal: Terminal,
  rows: readonly OutputRow[],
  columns: readonly OutputColumn[],
  emptyText: string,
): string {
  if (rows.length === 0) return emptyText
  const headings = columns.map((column) => (typeof column === 'string' ? column.replaceAll('_', ' ') : column.heading))
  const lines = rows.map((row) => columns.map((column) => formatCell(readCell(row, column))))
  const widths = headings.map((heading, index) =>
    Math.max(heading.length, ...lines.map((line) => line[index]?.length ?? 0)),
  )
  const drawLine = (cells: readonly string[]) =>
    cells
      .map((cell, index) => cell.padEnd(widths[index] ?? 0))
      .join('  ')
      .trimEnd()
  return [
    colourText(terminal, 'bold', drawLine(headings.map((heading) => heading.toUpperCase()))),
    ...lines.map(drawLine),
  ].join(line_break)
}

/** One field on each line, names aligned; absent values are omitted. */
export function formatFields(terminal: Terminal, fields: OutputRow): string {
  const present = Object.entries(fields).filter(([, value]) => value !== undefined && value !== null)
  const width = Math.max(0, ...present.map(([name]) => name.length))
  return present
    .map(
      ([name, value]) =>
        `${colourText(terminal, 'bold', name.replaceAll('_', ' ').padEnd(width))}  ${formatCell(value)}`,
    )
    .join(line_break)
}

/** Begins what the terminal obeys; random, so that no text from outside contains it. See `escapingTerminal`. */
export const format_mark = `\u001b${randomBytes(8).toString('hex')}`

/** Joins lines of one text. A plain line end is printed as an escape: it could come from outside, and forge a line. */
export const line_break = `${format_mark}\n`

/** Joins paragraphs of one text. */
export const paragraph_break = line_break.repeat(2)

/** A text whose line ends and tabs are its own structure: prose, YAML, a script, indented JSON. */
export function keepLayout(text: string): string {
  return text.replaceAll(/[\n\t]/g, (each) => format_mark + each)
}

const colourCodes = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33 } as const

export function colourText(terminal: Terminal, colour: keyof typeof colourCodes, text: string): string {
  return terminal.hasColour ? `${format_mark}[${colourCodes[colour]}m${text}${format_mark}[0m` : text
}

function readCell(row: OutputRow, column: OutputColumn): unknown {
  return typeof column === 'string' ? row[column] : column.cell(row)
}

/** Escaped here, although the boundary would: a column is as wide as what is shown. */
function formatCell(value: unknown): string {
  if (value === undefined || value === null) return '-'
  if (typeof value === 'number') return formatNumber(value)
  const text = typeof value === 'string' ? value : Array.isArray(value) ? formatList(value) : JSON.stringify(value)
  return escapeLine(text)
}

/** Four significant decimals, without the noise of binary fractions; `--json` has full precision. */
function formatNumber(value: number): string {
  return String(Number(Math.abs(value) < 1 ? value.toPrecision(4) : value.toFixed(4)))
}

function formatList(values: readonly unknown[]): string {
  return values.every((value) => typeof value !== 'object') ? values.join(', ') : JSON.stringify(values)
}
