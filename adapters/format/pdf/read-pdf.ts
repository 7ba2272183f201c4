// Reads the text of a PDF, a row for each line, or its tables, a row for each of theirs. Scripts, forms and attachments are not looked at.
import type { RangeSource } from '../../../daemon/kernel/data/byte-source.ts'
import type { DataBlock } from '../../../daemon/kernel/data/data-block.ts'
import { DataFault } from '../../../daemon/kernel/data/data-fault.ts'
import type { DataReadOptions } from '../../../daemon/kernel/data/read-options.ts'
import { FactTable } from '../image/fact-table.ts'
import { findTables } from './find-tables.ts'
import { openPdf } from './open-pdf.ts'
import type { PdfLine } from './text-lines.ts'

const [text, integer, double] = [{ type: 'text' }, { type: 'int64' }, { type: 'double' }] as const

/** Coordinates are in points of the page, from its lower left corner, to the beginning of the line. */
const textColumns = {
  ...{ page: integer, block: integer, line: integer, text },
  ...{ x: double, y: double, width: double, size: double },
} as const

const max_columns = 32
const cellColumns: Readonly<Record<string, typeof text>> = Object.fromEntries(
  Array.from({ length: max_columns }, (_, at) => [`column_${at + 1}`, text]),
)
const tableColumns = { page: integer, table: integer, row: integer, ...cellColumns } as const

type PageWriter<Columns extends Readonly<Record<string, { type: 'text' | 'int64' | 'double' }>>> = (
  table: FactTable<Columns>,
  page: number,
  lines: readonly PdfLine[],
) => void

/** The line of a record is its number. Throws `DataFault`, and what the file or `onReject` throws. */
export function readPdf(file: RangeSource, options: DataReadOptions, onRead?: (read_bytes: number) => void) {
  return readPages(file, new FactTable(textColumns, options), addLines, onRead)
}

/** The same of the rows of tables. */
export function readPdfTables(file: RangeSource, options: DataReadOptions, onRead?: (read_bytes: number) => void) {
  return readPages(file, new FactTable(tableColumns, options), addTables, onRead)
}

async function* readPages<Columns extends Readonly<Record<string, { type: 'text' | 'int64' | 'double' }>>>(
  file: RangeSource,
  table: FactTable<Columns>,
  add: PageWriter<Columns>,
  onRead: (read_bytes: number) => void = () => undefined,
): AsyncGenerator<DataBlock, void, undefined> {
  onRead(0)
  const document = await openPdf(file)
  let hasBlock = false
  try {
    for (let page = 1; page <= document.pages; page++) {
      onRead(Math.floor((file.size * (page - 1)) / document.pages))
      try {
        add(table, page, await document.readLines(page))
      } catch (error) {
        // A page that ends the thread ends the reading.
        if (!(error instanceof DataFault) || document.isOver()) throw error
        table.refuse(error.reason)
      }
      if (!table.isFull) continue
      hasBlock = true
      yield table.block()
      table.clear()
    }
  } finally {
    await document.close()
  }
  if (table.rows > 0 || !hasBlock) yield table.block()
}

function addLines(table: FactTable<typeof textColumns>, page: number, lines: readonly PdfLine[]): void {
  for (const [at, { block, size, cells }] of lines.entries()) {
    const [first] = cells
    const last = cells.at(-1)
    if (!first || !last) continue
    table.add({
      ...{ page, block, line: at + 1, text: cells.map((cell) => cell.text).join(' '), size },
      ...{ x: first.x, y: first.y, width: Math.round((last.x + last.width - first.x) * 100) / 100 },
    })
  }
}

function addTables(table: FactTable<typeof tableColumns>, page: number, lines: readonly PdfLine[]): void {
  const right = Math.max(0, ...lines.flatMap(({ cells }) => cells.map(({ x, width }) => x + width)))
  for (const [number, rows] of findTables(lines, right).entries())
    for (const [at, cells] of rows.entries()) {
      if (cells.length > max_columns) {
        table.refuse(`a table of page ${page} has ${cells.length} columns; at most ${max_columns} are read`)
        continue
      }
      const values = Object.fromEntries(cells.map((cell, column) => [`column_${column + 1}`, cell]))
      table.add({ page, table: number + 1, row: at + 1, ...values })
    }
}
