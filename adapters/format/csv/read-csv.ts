// Reads CSV of any length by blocks, in bounded memory: one window of text, and the positions of its values.
import type { ByteSource } from '../../../daemon/kernel/data/byte-source.ts'
import type { CsvDialect } from '../../../daemon/kernel/data/csv-dialect.ts'
import type { DataBlock } from '../../../daemon/kernel/data/data-block.ts'
import type { DataReadOptions } from '../../../daemon/kernel/data/read-options.ts'
import { TextWindow } from '../../../daemon/kernel/data/text-window.ts'
import { openUtf8 } from '../../../daemon/kernel/data/utf8-source.ts'
import { CsvRecords } from './csv-records.ts'
import { findLineEnd } from './line-end.ts'

/** Throws `DataFault`, and what the source or `onReject` throws. */
export async function* readCsv(
  source: ByteSource,
  dialect: CsvDialect,
  options: DataReadOptions,
): AsyncGenerator<DataBlock, void, undefined> {
  const window = new TextWindow(await openUtf8(source, dialect.encoding), (text) => findLineEnd(text, dialect))
  const records = new CsvRecords(window, dialect, options)
  let hasBlock = false
  for (let start = 0; !window.isLast; ) {
    const isMoved = await window.moveTo(start)
    if (isMoved) records.open()
    start = isMoved ? 0 : records.rejectLong()
    for (let hasMore = true; hasMore; ) {
      start = records.take(start)
      hasMore = records.isFull
      if (window.isLast && !hasMore) {
        start = records.end(start)
        hasMore = start < window.end
      }
      const block = records.block()
      if (block.rows === 0 && (hasBlock || !window.isLast)) continue
      hasBlock = true
      yield block
    }
  }
}
