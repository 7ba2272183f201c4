// Writes blocks as Apache Parquet, one row group for each block, so that no more than one is in memory.
import type { SchemaElement } from 'hyparquet'
import { ByteWriter, ParquetWriter } from 'hyparquet-writer'
import type { DataColumn, TimeUnit } from '../../../daemon/kernel/data/data-schema.ts'
import { BlockReader, type DataWriterFactory } from '../../../daemon/kernel/data/data-writer.ts'

type ValueElement = Omit<SchemaElement, 'name'>

const schemaElements: Readonly<Record<DataColumn['type'], (unit: TimeUnit) => ValueElement>> = {
  text: () => ({ type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } }),
  boolean: () => ({ type: 'BOOLEAN' }),
  int32: () => ({ type: 'INT32' }),
  int64: () => ({ type: 'INT64' }),
  double: () => ({ type: 'DOUBLE' }),
  date: () => ({ type: 'INT32', converted_type: 'DATE', logical_type: { type: 'DATE' } }),
  timestamp: (unit) => ({ ...timeElement(unit, true), ...olderTimes[unit] }),
  // The older annotations are of instants alone.
  local_timestamp: (unit) => timeElement(unit, false),
}

const unitNames = { ms: 'MILLIS', us: 'MICROS', ns: 'NANOS' } as const
const olderTimes: Readonly<Record<TimeUnit, Pick<ValueElement, 'converted_type'>>> = {
  ms: { converted_type: 'TIMESTAMP_MILLIS' },
  us: { converted_type: 'TIMESTAMP_MICROS' },
  ns: {},
}

function timeElement(unit: TimeUnit, isAdjustedToUTC: boolean): ValueElement {
  return { type: 'INT64', logical_type: { type: 'TIMESTAMP', isAdjustedToUTC, unit: unitNames[unit] } }
}

export const writeParquet: DataWriterFactory = (schema, onBytes) => {
  const bytes = new ByteWriter()
  const flush = () => {
    onBytes(bytes.getBytes())
    bytes.index = 0
  }
  const root: SchemaElement = { name: 'root', num_children: schema.length }
  const elements = schema.map(
    ({ name, type, unit = 'us', required }): SchemaElement => ({
      name,
      repetition_type: required ? 'REQUIRED' : 'OPTIONAL',
      ...schemaElements[type](unit),
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
