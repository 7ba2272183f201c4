// Bytes in memory as a source of readers of data files, and the rows of their blocks.
import type { ByteSource, RangeSource } from '../../../daemon/kernel/data/byte-source.ts'
import type { DataBlock, DataBlocks } from '../../../daemon/kernel/data/data-block.ts'

/** `cuts`: positions at which reads end. */
export function memorySource(bytes: Uint8Array, cuts: readonly number[] = []): ByteSource {
  const ends = [...cuts.filter((cut) => cut > 0 && cut < bytes.length), bytes.length].sort((a, b) => a - b)
  let offset = 0
  return {
    read(into) {
      const end = Math.min(ends.find((each) => each > offset) ?? offset, offset + into.length)
      into.set(bytes.subarray(offset, end))
      const read_count = end - offset
      offset = end
      return read_count
    },
  }
}

export function memoryRanges(bytes: Uint8Array): RangeSource {
  return { size: bytes.length, read: (start, end) => Uint8Array.from(bytes.subarray(start, end)).buffer }
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** Text of a value; null for a missing one. */
export function cellOf({ columns }: DataBlock, column: number, row: number): string | null {
  const { bytes, starts, ends } = columns[column] ?? { bytes: new Uint8Array(0), starts: [], ends: [] }
  const start = starts[row] ?? -1
  return start < 0 ? null : decoder.decode(bytes.subarray(start, ends[row]))
}

/** All rows, under the names of the last block; null for missing values. */
export async function listRows(blocks: DataBlocks): Promise<{ names: readonly string[]; rows: (string | null)[][] }> {
  const rows: (string | null)[][] = []
  let names: readonly string[] = []
  for await (const block of blocks) {
    names = block.columns.map(({ name }) => name)
    for (let row = 0; row < block.rows; row++) rows.push(names.map((_, column) => cellOf(block, column, row)))
  }
  return { names, rows: rows.map((row) => [...row, ...names.slice(row.length).map(() => null)]) }
}
