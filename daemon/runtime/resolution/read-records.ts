// Reads the records of an open data file of any kind that is known, for commands and for threads alike.
import { extname } from 'node:path'
import { type CsvLimits, CsvReader, DataFault, separators } from '../../roles/resolution/engine/records/csv.ts'
import { JsonLinesReader } from '../../roles/resolution/engine/records/json-lines.ts'
import type { RecordSource } from '../../roles/resolution/engine/records/records.ts'
import { type DataFile, DataFileError } from './data-file.ts'
import { TenantDataFileError } from './tenant-data-file.ts'

/** What results may be. */
export const resultKinds = ['csv', 'jsonl', 'parquet'] as const
export type ResultKind = (typeof resultKinds)[number]
export type DataKind = ResultKind | 'tsv'
export type TextKind = Exclude<DataKind, 'parquet'>

/** What one field, one line of JSON, and one file may hold. */
export const data_limits = { field_bytes: 1_048_576, line_bytes: 16_777_216, names: 4_096, rows: 50_000_000 }

/** Between the items of a list of values, which fields that are sets read as such. */
const list_separator = '|'

const kindsByExtension: Readonly<Record<string, DataKind>> = {
  '.csv': 'csv',
  '.tsv': 'tsv',
  '.tab': 'tsv',
  '.jsonl': 'jsonl',
  '.ndjson': 'jsonl',
  '.parquet': 'parquet',
  '.pq': 'parquet',
}

/** Endings of names that say what a file is. */
export const readableExtensions = Object.keys(kindsByExtension)

/** By the ending of its name; undefined where that says nothing. */
export function inferDataKind(file: string): DataKind | undefined {
  return kindsByExtension[extname(file).toLowerCase()]
}

export type RecordReadOptions = {
  readonly kind: DataKind
  /** Columns that are not wanted are read over. */
  readonly isWanted: (column: string) => boolean
  /** The column that names a record, where there is one. */
  readonly id?: CsvLimits['id']
  /** More records are a fault. */
  readonly rows?: number
  /** Bytes that have been read, and all there are. It may throw, and reading ends with that. */
  readonly onProgress: (done: number, total: number) => void
}

type RecordColumns = Omit<RecordSource, 'name'>

/** Throws what `describeDataFault` puts into words, and what `tell` throws. */
export async function readRecords(file: DataFile, reading: RecordReadOptions): Promise<RecordColumns> {
  const { kind, isWanted, onProgress, ...limits } = reading
  const read =
    kind === 'parquet'
      ? await readParquetRecords(file, reading)
      : readTextRecords(file, createTextReader(kind, isWanted, limits), onProgress)
  file.checkUnchanged()
  return read
}

/** What is wrong with the file, to go on where its name ends; undefined for what is no fault of it. */
export function describeDataFault(
  error: unknown,
): { readonly text: string; readonly remedy?: string | undefined } | undefined {
  if (error instanceof DataFault) return { text: `, ${error.message}` }
  if (error instanceof TenantDataFileError) return { text: `: ${error.message}` }
  if (error instanceof DataFileError) return { text: ` ${error.message}`, remedy: error.remedy }
  const isParquet = error instanceof Error && error.name === 'ParquetFault'
  return isParquet ? { text: `: ${error.message}` } : undefined
}

/** What takes the bytes of a text and makes columns of them. */
export function createTextReader(
  kind: TextKind,
  isWanted: (name: string) => boolean,
  { rows = data_limits.rows, id }: Pick<RecordReadOptions, 'rows' | 'id'> = {},
): CsvReader | JsonLinesReader {
  const limits = { ...data_limits, rows, id }
  if (kind === 'jsonl') return new JsonLinesReader(limits, isWanted, list_separator)
  return new CsvReader(limits, isWanted, kind === 'tsv' ? separators.tab : separators.comma)
}

function readTextRecords(
  file: DataFile,
  reader: CsvReader | JsonLinesReader,
  tell: RecordReadOptions['onProgress'],
): RecordColumns {
  file.forEachTextChunk((bytes, done) => {
    tell(done - bytes.length, file.size)
    reader.push(bytes)
  })
  return reader.finish()
}

async function readParquetRecords(
  file: DataFile,
  { isWanted, onProgress, rows = data_limits.rows }: RecordReadOptions,
): Promise<RecordColumns> {
  const { ColumnBuilder } = await import('../../roles/resolution/engine/records/column-builder.ts')
  const { parquetTable } = await import('../../../adapters/format/parquet/reading.ts')
  const table = await parquetTable(file, rows)
  const wanted = table.names.filter(isWanted)
  const columns: RecordSource['columns'][number][] = []
  for (const [at, name] of wanted.entries()) {
    onProgress(Math.floor((file.size * at) / wanted.length), file.size)
    const column = new ColumnBuilder(name)
    await table.read(name, list_separator, (row, value) => {
      if (value.length > data_limits.field_bytes) {
        throw new DataFileError(`has more than ${data_limits.field_bytes} bytes in record ${row + 1}, column ${name}`)
      }
      column.set(row, value)
    })
    columns.push(column.finish(table.rows))
  }
  return { names: table.names, rows: table.rows, columns }
}
