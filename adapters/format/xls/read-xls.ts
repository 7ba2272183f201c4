// Reads a sheet of a workbook of Excel 97 to 2003 (.xls) by blocks, as those of .xlsx are read. Rows are read piece by piece; shared texts are in memory.
import type { RangeSource } from '../../../daemon/kernel/data/byte-source.ts'
import { type DataBlock, maxBlockRows } from '../../../daemon/kernel/data/data-block.ts'
import type { DataReadOptions } from '../../../daemon/kernel/data/read-options.ts'
import { findSheet, nameSheets, type SheetNames } from '../xlsx/find-sheet.ts'
import { SheetTable } from '../xlsx/sheet-table.ts'
import { biffRows } from './biff-rows.ts'
import { openBiffWorkbook } from './biff-workbook.ts'

const max_block_bytes = 16_777_216
/** Between two reports. */
const progress_rows = 1_024

/** Throws `DataFault`, and what the file throws. */
export function listXlsSheets(file: RangeSource): SheetNames {
  return nameSheets(openBiffWorkbook(file, false).sheets)
}

/**
 * `sheet`: its name, or its number from 1; the only one may be left out. `onRead` receives the bytes that were read so far. Throws
 * `DataFault`, and what the file or `onReject` throws.
 */
export async function* readXls(
  file: RangeSource,
  sheet: string | undefined,
  options: DataReadOptions,
  onRead: (read_bytes: number) => void = () => undefined,
): AsyncGenerator<DataBlock, void, undefined> {
  onRead(0)
  const workbook = openBiffWorkbook(file, true)
  const found = findSheet(workbook.sheets, sheet)
  const table = new SheetTable(options)
  const { block_rows = Number.POSITIVE_INFINITY } = options
  let hasBlock = false
  let rows = 0
  for (const { number, values, position } of biffRows(workbook, found)) {
    if (++rows % progress_rows === 0) onRead(Math.min(file.size, position))
    table.add(number, values)
    if (table.rows < Math.min(block_rows, maxBlockRows(table.columns)) && table.length < max_block_bytes) continue
    hasBlock = true
    yield table.block()
    table.clear()
  }
  table.requireNames()
  if (table.rows > 0 || !hasBlock) yield table.block()
}
