// Reads the cells of CSV that results disarm with an apostrophe as the texts that they stand for.
import type { DataBlocks, TextColumn } from '../../../kernel/data/data-block.ts'
import { unescapeFormula } from '../../../kernel/text/formula-cell.ts'

const apostrophe = 39

/** The same blocks, whose values begin behind such an apostrophe. */
export async function* restoreFormulas(blocks: DataBlocks): DataBlocks {
  for await (const block of blocks) {
    for (const column of block.columns) restoreColumn(column, block.rows)
    yield block
  }
}

function restoreColumn({ bytes, starts, ends }: TextColumn, rows: number): void {
  const decoder = new TextDecoder()
  for (let row = 0; row < rows; row++) {
    const start = starts[row] ?? -1
    if (start < 0 || bytes[start] !== apostrophe) continue
    const cell = decoder.decode(bytes.subarray(start, ends[row]))
    if (unescapeFormula(cell) !== cell) starts[row] = start + 1
  }
}
