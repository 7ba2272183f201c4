// How results look: one JSON document for scripts, tables and fields for people, colours only where they are wanted.
import type { Terminal } from './terminal.ts'

export type OutputRow = Readonly<Record<string, unknown>>

/** A heading and how to get the cell from a row; a bare name is both. */
export type OutputColumn = string | { readonly heading: string; readonly cell: (row: OutputRow) => unknown }

/** Prints one JSON document, or what `human` makes of it. */
export function printResult(terminal: Terminal, json: boolean, value: unknown, human: () => string): void {
  terminal.print(json ? escapeControls(JSON.stringify(value)) : human())
}

/** Aligned columns under headings; `none` when there are no rows. */
export function formatTable(
  terminal: Terminal,
  rows: readonly OutputRow[],
  columns: readonly OutputColumn[],
  none: string,
): string {
  if (rows.length === 0) return none
  const headings = columns.map((column) => (typeof column === 'string' ? column.replaceAll('_', ' ') : column.heading))
  const lines = rows.map((row) => columns.map((column) => formatCell(readCell(row, column))))
  const widths = headings.map((heading, at) => Math.max(heading.length, ...lines.map((line) => line[at]?.length ?? 0)))
  const draw = (cells: readonly string[]) =>
    cells
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd()
  return [
    colourText(terminal, 'bold', draw(headings.map((heading) => heading.toUpperCase()))),
    ...lines.map(draw),
  ].join('\n')
}

/** One field a line, names aligned; absent values are left out. */
export function formatFields(terminal: Terminal, of: OutputRow): string {
  const shown = Object.entries(of).filter(([, value]) => value !== undefined && value !== null)
  const width = Math.max(0, ...shown.map(([name]) => name.length))
  return shown
    .map(
      ([name, value]) =>
        `${colourText(terminal, 'bold', name.replaceAll('_', ' ').padEnd(width))}  ${formatCell(value)}`,
    )
    .join('\n')
}

const colourCodes = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33 } as const

export function colourText(terminal: Terminal, colour: keyof typeof colourCodes, given: string): string {
  return terminal.hasColour ? `\u001b[${colourCodes[colour]}m${given}\u001b[0m` : given
}

function readCell(row: OutputRow, column: OutputColumn): unknown {
  return typeof column === 'string' ? row[column] : column.cell(row)
}

/** A cell is one line, whatever others put into their data. */
function formatCell(value: unknown): string {
  if (value === undefined || value === null) return '-'
  if (typeof value === 'number') return formatNumber(value)
  const given = typeof value === 'string' ? value : Array.isArray(value) ? formatList(value) : JSON.stringify(value)
  return escapeControls(given).replaceAll('\n', '\\n')
}

/** Four decimals that count are enough to read, and leave out the noise of binary fractions; `--json` has them all. */
function formatNumber(value: number): string {
  return String(Number(Math.abs(value) < 1 ? value.toPrecision(4) : value.toFixed(4)))
}

function formatList(values: readonly unknown[]): string {
  return values.every((value) => typeof value !== 'object') ? values.join(', ') : JSON.stringify(values)
}

/**
 * Text of others for a terminal: what would move the cursor, hide a line or turn its direction becomes a `\u` escape,
 * which JSON reads as the same character. Line ends stay.
 */
export function escapeControls(given: string): string {
  return given.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (found) => (found === '\n' ? found : escapeCharacter(found)))
}

function escapeCharacter(found: string): string {
  const units = Array.from({ length: found.length }, (_, at) => found.charCodeAt(at))
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('')
}
