// Reads a sheet of a workbook of Excel by blocks. The rows are inflated and read piece by piece; shared texts are in memory.
import type { RangeSource } from '../../../daemon/kernel/data/byte-source.ts'
import { type DataBlock, maxBlockRows } from '../../../daemon/kernel/data/data-block.ts'
import { DataFault } from '../../../daemon/kernel/data/data-fault.ts'
import type { DataReadOptions } from '../../../daemon/kernel/data/read-options.ts'
import { XmlReader } from '../xml/xml-reader.ts'
import { inflateEntry } from '../zip/zip-entries.ts'
import { findSheet, nameSheets, type SheetNames } from './find-sheet.ts'
import { sheetRows } from './sheet-rows.ts'
import { SheetTable } from './sheet-table.ts'
import { openWorkbook, readSharedTexts, readStyles } from './workbook.ts'

const max_sheet_bytes = 4_294_967_296
const max_block_bytes = 16_777_216
/** Of XML between two looks at the size of a block: cells of few bytes may each refer to a long shared text. */
const slice_bytes = 2_048

/** The sheets of a workbook in their order, and the first one that a person sees. Throws `DataFault`. */
export async function listSheets(file: RangeSource): Promise<SheetNames> {
  return nameSheets((await openWorkbook(file)).sheets)
}

/**
 * `sheet`: its name, or its number from 1; the only one may be left out. `onRead` receives the share of the file that was read, in
 * bytes. Throws `DataFault`, and what the file throws.
 */
export async function* readXlsx(
  file: RangeSource,
  sheet: string | undefined,
  options: DataReadOptions,
  onRead: (read_bytes: number) => void = () => undefined,
): AsyncGenerator<DataBlock, void, undefined> {
  onRead(0)
  const workbook = await openWorkbook(file)
  const { part } = findSheet(workbook.sheets, sheet)
  const entry = workbook.entries.get(part)
  if (!entry) throw new DataFault(`damaged: the part ${part} is missing`)
  const [styles, shared] = [await readStyles(workbook), await readSharedTexts(workbook)]
  const table = new SheetTable(options)
  const { has1904Dates } = workbook
  const reader = new XmlReader(
    `damaged: ${part}`,
    sheetRows({ styles, shared, has1904Dates }, (number, row, uncomputed) => table.add(number, row, uncomputed)),
  )
  let hasBlock = false
  for await (const piece of inflateEntry(file, entry, max_sheet_bytes, onRead)) {
    for (let at = 0; at < piece.length; at += slice_bytes) {
      reader.write(piece.subarray(at, at + slice_bytes))
      if (table.rows < maxBlockRows(table.columns) && table.length < max_block_bytes) continue
      hasBlock = true
      yield table.block()
      table.clear()
    }
  }
  reader.end()
  table.requireNames()
  if (table.rows > 0 || !hasBlock) yield table.block()
}
