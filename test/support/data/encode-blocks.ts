// Blocks of rows, and files of them in memory.
import { writeParquet } from '../../../adapters/format/parquet/write-parquet.ts'
import type { DataBlock } from '../../../daemon/kernel/data/data-block.ts'
import { TextColumnBuilder } from '../../../daemon/kernel/data/data-block.ts'
import type { DataSchema } from '../../../daemon/kernel/data/data-schema.ts'
import type { DataWriterFactory } from '../../../daemon/kernel/data/data-writer.ts'

/** A block of rows; null is a missing value. */
export function buildBlock(names: readonly string[], rows: readonly (readonly (string | null)[])[]): DataBlock {
  const columns = names.map((name, at) => {
    const builder = new TextColumnBuilder(name)
    for (const row of rows) builder.add(row[at] ?? undefined)
    return builder.column()
  })
  return { rows: rows.length, names, columns }
}

export function encodeBlocks(create: DataWriterFactory, schema: DataSchema, blocks: readonly DataBlock[]): Uint8Array {
  const parts: Uint8Array[] = []
  const writer = create(schema, (bytes) => parts.push(Uint8Array.from(bytes)))
  for (const block of blocks) writer.write(block)
  writer.end()
  return Buffer.concat(parts)
}

/** Every column has texts. */
export function encodeParquet(names: readonly string[], rows: readonly (readonly (string | null)[])[]): Uint8Array {
  const schema = names.map((name) => ({ name, type: 'text' as const }))
  return encodeBlocks(writeParquet, schema, [buildBlock(names, rows)])
}
