// Reads JSON lines of any length by blocks, in bounded memory: one object a line, with keys in any order; a line may lack keys.
import type { ByteSource } from '../../../daemon/kernel/data/byte-source.ts'
import type { DataBlock } from '../../../daemon/kernel/data/data-block.ts'
import type { DataReadOptions } from '../../../daemon/kernel/data/read-options.ts'
import { TextWindow } from '../../../daemon/kernel/data/text-window.ts'
import { openUtf8, type TextEncodingName } from '../../../daemon/kernel/data/utf8-source.ts'
import { JsonLines, type RecordConversion } from './json-lines.ts'

/** `separator`: joins the items of a list of plain values. `encoding`: without a byte order mark. Throws `DataFault`, and what the source or `onReject` throws. */
export async function* readJsonLines(
  source: ByteSource,
  separator: string,
  options: DataReadOptions,
  encoding: TextEncodingName = 'utf-8',
  toRecord?: RecordConversion,
): AsyncGenerator<DataBlock, void, undefined> {
  const window = new TextWindow(await openUtf8(source, encoding))
  const lines = new JsonLines(window, separator, options, toRecord)
  let hasBlock = false
  for (let start = 0; !window.isLast; ) {
    const isMoved = await window.moveTo(start)
    if (isMoved) lines.open()
    start = isMoved ? 0 : lines.rejectLong()
    for (let hasMore = true; hasMore; ) {
      start = lines.take(start)
      hasMore = lines.isFull
      const block = lines.block()
      if (block.rows === 0 && (hasBlock || !window.isLast)) continue
      hasBlock = true
      yield block
      lines.clear()
    }
  }
}
