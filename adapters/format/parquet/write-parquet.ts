// Writes blocks as Apache Parquet. A row group is encoded in memory while its blocks arrive; no value becomes an object.
import type { ColumnChunk, RowGroup, SchemaElement } from 'hyparquet'
import { ByteWriter } from 'hyparquet-writer'
import { writeMetadata } from 'hyparquet-writer/src/metadata.js'
import type { DataBlock, TextColumn } from '../../../daemon/kernel/data/data-block.ts'
import type { DataColumn, DataSchema, TimeUnit } from '../../../daemon/kernel/data/data-schema.ts'
import {
  BlockReader,
  type ByteSink,
  type DataWriter,
  type DataWriterFactory,
} from '../../../daemon/kernel/data/data-writer.ts'
import type { ColumnEncoder } from './encode/column-encoder.ts'
import { ColumnTextEncoder } from './encode/text-encoder.ts'
import { numberEncoders } from './encode/value-encoders.ts'

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

/** A row group ends with the first block that reaches one of both. */
const group_rows = 131_072
const group_bytes = 67_108_864
/** Rows of a block that are added at once, so that a large block does not make a group much larger. */
const slice_rows = 16_384

const magic = Buffer.from('PAR1')

class ParquetFileWriter implements DataWriter {
  readonly #schema: readonly SchemaElement[]
  readonly #encoders: readonly ColumnEncoder[]
  readonly #reader: BlockReader
  readonly #onBytes: ByteSink
  readonly #groups: RowGroup[] = []
  #offset = 0
  /** Rows of the group that is being encoded. */
  #rows = 0

  constructor(schema: DataSchema, onBytes: ByteSink) {
    const elements = schema.map(
      ({ name, type, unit = 'us', required }): SchemaElement => ({
        name,
        repetition_type: required ? 'REQUIRED' : 'OPTIONAL',
        ...schemaElements[type](unit),
      }),
    )
    this.#schema = [{ name: 'root', num_children: schema.length }, ...elements]
    this.#encoders = schema.map((column) =>
      column.type === 'text' ? new ColumnTextEncoder(column) : numberEncoders[column.type](column),
    )
    this.#reader = new BlockReader(schema)
    this.#onBytes = onBytes
    this.#write(magic)
  }

  write(block: DataBlock): void {
    const columns = this.#reader.columns(block)
    for (let from = 0; from < block.rows; from += slice_rows) {
      const to = Math.min(block.rows, from + slice_rows)
      for (const [at, [column, values]] of columns.entries()) this.#addValues(at, column, values, from, to)
      this.#rows += to - from
      const size = this.#encoders.reduce((sum, encoder) => sum + encoder.size, 0)
      if (this.#rows >= group_rows || size >= group_bytes) this.#endGroup()
    }
  }

  #addValues(at: number, column: DataColumn, values: TextColumn, from: number, to: number): void {
    const row = this.#encoders[at]?.add(values, from, to) ?? -1
    if (row < 0) return
    this.#reader.value(column, values, row)
    throw new TypeError(`${column.name}: the encoder and the type ${column.type} differ about a value`)
  }

  #endGroup(): void {
    const [first, rows] = [this.#offset, this.#rows]
    const columns = this.#encoders.map((encoder) => this.#writeChunk(encoder))
    const total = columns.reduce((sum, { meta_data }) => sum + (meta_data?.total_uncompressed_size ?? 0n), 0n)
    const packed = BigInt(this.#offset - first)
    this.#groups.push({
      columns,
      num_rows: BigInt(rows),
      total_byte_size: total,
      file_offset: BigInt(first),
      total_compressed_size: packed,
    })
    this.#rows = 0
  }

  #writeChunk(encoder: ColumnEncoder): ColumnChunk {
    const { parts, hasDictionary, metadata } = encoder.finish()
    const start = BigInt(this.#offset)
    const [first] = parts
    const data_page_offset = hasDictionary && first ? start + BigInt(first.length) : start
    for (const part of parts) this.#write(part)
    encoder.clear()
    const dictionary = hasDictionary ? { dictionary_page_offset: start } : {}
    return { file_offset: start, meta_data: { ...metadata, data_page_offset, ...dictionary } }
  }

  end(): void {
    if (this.#rows > 0) this.#endGroup()
    const footer = new ByteWriter()
    const num_rows = this.#groups.reduce((sum, group) => sum + group.num_rows, 0n)
    const schema = [...this.#schema]
    writeMetadata(footer, {
      ...{ version: 2, created_by: 'platform', metadata_length: 0 },
      ...{ schema, num_rows, row_groups: this.#groups },
    })
    this.#write(footer.getBytes())
    this.#write(magic)
  }

  #write(bytes: Uint8Array): void {
    this.#offset += bytes.length
    this.#onBytes(bytes)
  }
}

export const writeParquet: DataWriterFactory = (schema, onBytes) => new ParquetFileWriter(schema, onBytes)
