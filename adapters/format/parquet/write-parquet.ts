// Writes blocks as Apache Parquet, one row group for each block, so that no more than one is in memory.
import type { SchemaElement } from 'hyparquet'
import { ByteWriter, ParquetWriter } from 'hyparquet-writer'
import type { DataColumn } from '../../../daemon/kernel/data/data-schema.ts'
import { BlockReader, type DataWriterFactory } from '../../../daemon/kernel/data/data-writer.ts'

const schemaElements: Readonly<Record<DataColumn['type'], Omit<SchemaElement, 'name'>>> = {
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } },
  boolean: { type: 'BOOLEAN' },
  int32: { type: 'INT32' },
  int64: { type: 'INT64' },
  double: { type: 'DOUBLE' },
  date: { type: 'INT32', converted_type: 'DATE', logical_type: { type: 'DATE' } },
  timestamp: {
    type: 'INT64',
    converted_type: 'TIMESTAMP_MICROS',
    logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MICROS' },
  },
}

export const writeParquet: DataWriterFactory = (schema, onBytes) => {
  const bytes = new ByteWriter()
  const flush = () => {
    onBytes(bytes.getBytes())
    bytes.index = 0
  }
  const root: SchemaElement = { name: 'root', num_children: schema.length }
  const elements = schema.map(
    ({ name, type, required }): SchemaElement => ({
      name,
      repetition_type: required ? 'REQUIRED' : 'OPTIONAL',
      ...schemaElements[type],
    }),
  )
  const writer = new ParquetWriter({ writer: bytes, schema: [root, ...elements], createdBy: 'platform' })
  const reader = new BlockReader(schema)
  return {
    write(block) {
      if (block.rows === 0) return
      const columnData = reader.columns(block).map(([column, values]) => {
        const data = Array.from({ length: block.rows }, (_, row) => reader.value(column, values, row) ?? null)
        return { name: column.name, data }
      })
      writer.write({ columnData, rowGroupSize: block.rows })
      flush()
    },
    end() {
      writer.finish()
      flush()
    },
  }
}
