// Finds where rows of a file are: the lines that a person finds in it.
import type { DataFile } from '../../../../adapters/platform/data-file/data-file.ts'
import { openRecordBlocks, type RecordReadOptions } from '../../../runtime/resolution/files/read-records.ts'

/** Finds the lines of rows that can be read, from 0; the number of the record is the place where a format has no lines. */
export async function locateRows(
  file: DataFile,
  reading: RecordReadOptions,
  rows: readonly number[],
): Promise<ReadonlyMap<number, number>> {
  const places = new Map<number, number>()
  const left = new Set(rows)
  let before = 0
  const options = { ...reading, onReject: () => undefined, hasLines: true, onProgress: () => undefined }
  for await (const block of await openRecordBlocks(file, options)) {
    for (const row of left) {
      if (row >= before + block.rows) continue
      places.set(row, block.lines?.[row - before] ?? row + 1)
      left.delete(row)
    }
    before += block.rows
    if (left.size === 0) break
  }
  return places
}
