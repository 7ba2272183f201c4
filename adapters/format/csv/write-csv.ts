// Writes blocks as CSV (RFC 4180): a missing value as an empty field, an empty text in quotation marks, and so the missing value
// of an only column, since an empty line is not a record. Texts that a spreadsheet would run are disarmed; values of other types are
// numbers and times, which are read back as they were.
import type { TextColumn } from '../../../daemon/kernel/data/data-block.ts'
import { BlockReader, type DataWriterFactory } from '../../../daemon/kernel/data/data-writer.ts'
import { CsvWriter } from './csv-writer.ts'

export const writeCsv: DataWriterFactory = (schema, onBytes) => {
  const cells = new CsvWriter(onBytes)
  const reader = new BlockReader(schema)
  const missing = new Uint8Array(0)
  const empty = Buffer.from('""')
  cells.writeTexts(schema.map(({ name }) => name))
  return {
    write(block) {
      const columns = reader.columns(block)
      for (let row = 0; row < block.rows; row++) {
        for (const [column, values] of columns) {
          if (column.type === 'text' && writePlainText(cells, values, row)) continue
          reader.value(column, values, row)
          const text = reader.text(values, row)
          if (text === undefined) cells.writeCell(columns.length === 1 ? empty : missing)
          else if (column.type !== 'text') cells.writePlain(text)
          else if (text === '') cells.writeCell(empty)
          else cells.writeText(text)
        }
        cells.endLine()
      }
    },
    end: () => cells.flush(),
  }
}

/** Whether the value was written: most values need neither a check nor quotation marks. */
function writePlainText(cells: CsvWriter, { bytes, starts, ends }: TextColumn, row: number): boolean {
  const [start, end] = [starts[row] ?? -1, ends[row] ?? -1]
  return start >= 0 && end > start && cells.writePlainBytes(bytes, start, end)
}
