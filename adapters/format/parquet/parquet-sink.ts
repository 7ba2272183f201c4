// Writes tables as Apache Parquet, one row group after the other, so that no more than one is in memory.
import type { SchemaElement } from 'hyparquet'
import { ByteWriter, ParquetWriter } from 'hyparquet-writer'

export type ParquetColumn = { readonly name: string; readonly type: 'text' | 'whole' | 'real' | 'truth' }

const schemaElements: Readonly<Record<ParquetColumn['type'], Omit<SchemaElement, 'name'>>> = {
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } },
  whole: { type: 'INT32' },
  real: { type: 'DOUBLE' },
  truth: { type: 'BOOLEAN' },
}

export type ParquetSink = {
  /** One row group: the values of each column, in the order of the columns, all of one length. */
  group(columns: readonly (readonly unknown[])[]): void
  finish(): void
}

/** Every value is there; the same rows give the same bytes. `write` takes the bytes in order and keeps none of them. */
export function parquetSink(columns: readonly ParquetColumn[], write: (bytes: Uint8Array) => void): ParquetSink {
  const bytes = new ByteWriter()
  const hand = () => {
    write(bytes.getBytes())
    bytes.index = 0
  }
  const root: SchemaElement = { name: 'root', num_children: columns.length }
  const schema = columns.map(
    ({ name, type }): SchemaElement => ({ name, repetition_type: 'REQUIRED', ...schemaElements[type] }),
  )
  const writer = new ParquetWriter({ writer: bytes, schema: [root, ...schema], createdBy: 'platform' })
  return {
    group(values) {
      const columnData = columns.map(({ name }, at) => ({ name, data: [...(values[at] ?? [])] }))
      writer.write({ columnData, rowGroupSize: Math.max(1, values[0]?.length ?? 0) })
      hand()
    },
    finish() {
      writer.finish()
      hand()
    },
  }
}
