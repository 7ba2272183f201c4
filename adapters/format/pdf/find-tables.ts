// Tables on a page, by the places of its texts alone: rows of two or more cells that stand below each other.
import type { PdfCell, PdfLine } from './text-lines.ts'

/** Rows of cells by column, from 0. */
export type PdfTable = readonly (readonly (string | undefined)[])[]

type PageRow = { readonly y: number; readonly size: number; readonly cells: PdfCell[] }
type ColumnBand = { start: number; end: number }

/** In sizes of the font: of texts in one row, and between the rows of a table. */
const [max_rise, max_row_gap] = [0.5, 3]
const min_rows = 2
/** Columns of prose are as wide as that, in parts of the page. */
const prose_share = 0.35

/** `page_width`: in points. */
export function findTables(lines: readonly PdfLine[], page_width: number): PdfTable[] {
  const tables: PdfTable[] = []
  let run = new TableRun()
  for (const row of rowsOfPage(lines)) {
    if (run.add(row)) continue
    tables.push(...run.finish(page_width))
    run = new TableRun()
    run.add(row)
  }
  return [...tables, ...run.finish(page_width)]
}

/** From the top to the bottom, whatever the order in the document is. */
function rowsOfPage(lines: readonly PdfLine[]): PageRow[] {
  const cells = lines.flatMap(({ cells, size }) => cells.map((cell) => ({ ...cell, size })))
  cells.sort((a, b) => b.y - a.y || a.x - b.x)
  const rows: PageRow[] = []
  for (const cell of cells) {
    const last = rows.at(-1)
    if (last && last.y - cell.y <= max_rise * last.size) last.cells.push(cell)
    else rows.push({ y: cell.y, size: cell.size, cells: [cell] })
  }
  for (const row of rows) row.cells.sort((a, b) => a.x - b.x)
  return rows
}

/** Rows that follow each other, and the columns that their cells make. */
class TableRun {
  readonly #rows: PageRow[] = []
  #bands: ColumnBand[] = []

  /** Returns false where the row does not continue the table. */
  add(row: PageRow): boolean {
    const last = this.#rows.at(-1)
    if (!last) {
      // A row with one cell alone begins no table.
      if (row.cells.length < 2) return true
    } else if (last.y - row.y > max_row_gap * Math.max(last.size, row.size)) return false
    const bands = this.#bands.map((band) => ({ ...band }))
    const used = new Set<ColumnBand>()
    for (const { x, width } of row.cells) {
      const touched = bands.filter(({ start, end }) => x < end && x + width > start)
      const [band] = touched
      if (touched.length > 1 || (band && used.has(band))) return false
      if (band) {
        band.start = Math.min(band.start, x)
        band.end = Math.max(band.end, x + width)
        used.add(band)
      } else if (last && row.cells.length < 2) return false
      else bands.push(withUse(used, { start: x, end: x + width }))
    }
    bands.sort((a, b) => a.start - b.start)
    if (bands.some(({ end }, at) => end > (bands[at + 1]?.start ?? Number.POSITIVE_INFINITY))) return false
    this.#bands = bands
    this.#rows.push(row)
    return true
  }

  finish(page_width: number): PdfTable[] {
    const end = this.#rows.findLastIndex(({ cells }) => cells.length >= 2) + 1
    const isProse = this.#bands.every(({ start, end }) => end - start > prose_share * page_width)
    if (end < min_rows || isProse) return []
    return [this.#rows.slice(0, end).map(({ cells }) => this.#place(cells))]
  }

  #place(cells: readonly PdfCell[]): (string | undefined)[] {
    return this.#bands.map(({ start, end }) => cells.find(({ x }) => x >= start && x < end)?.text)
  }
}

function withUse(used: Set<ColumnBand>, band: ColumnBand): ColumnBand {
  used.add(band)
  return band
}
