// Reads the records of an open data file of any supported kind, for commands and threads.
import { extname } from 'node:path'
import { type CsvLimits, CsvReader, DataFault, separators } from '../../../roles/resolution/engine/records/csv.ts'
import { JsonLinesReader } from '../../../roles/resolution/engine/records/json-lines.ts'
import type { RecordSource } from '../../../roles/resolution/engine/records/records.ts'
import { type DataFile, DataFileError } from './data-file.ts'
import { TenantDataFileError } from './tenant-data-file.ts'

/** Formats of results. */
export const resultKinds = ['csv', 'jsonl', 'parquet'] as const
export type ResultKind = (typeof resultKinds)[number]
export type DataKind = ResultKind | 'tsv'
export type TextKind = Exclude<DataKind, 'parquet'>

/** Limits of a field, a line of JSON, and a file. */
const data_limits = { field_bytes: 1_048_576, line_bytes: 16_777_216, names: 4_096, rows: 50_000_000 }

/** Separates the items of a list; fields that are sets split at it. */
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

/** File name extensions of each kind. */
export const readableExtensions = Object.keys(kindsByExtension)

/** Infers the kind from the extension; undefined for an unknown one. */
export function inferDataKind(file: string): DataKind | undefined {
  return kindsByExtension[extname(file).toLowerCase()]
}

export type RecordReadOptions = {
  readonly kind: DataKind
  /** Selects the columns to read; others are skipped. */
  readonly isWanted: (column: string) => boolean
  /** The id column, where there is one. */
  readonly id?: CsvLimits['id']
  /** More records than this are a fault. */
  readonly rows?: number
  /** Receives the bytes read so far and in total. May throw, which ends the reading. */
  readonly onProgress: (done: number, total: number) => void
}

type RecordColumns = Omit<RecordSource, 'name'>

/** Throws faults that `describeDataFault` describes, and what `onProgress` throws. */
export async function readRecords(file: DataFile, options: RecordReadOptions): Promise<RecordColumns> {
  const { kind, isWanted, onProgress, ...limits } = options
  const columns =
    kind === 'parquet'
      ? await readParquetRecords(file, options)
      : readTextRecords(file, createTextReader(kind, isWanted, limits), onProgress)
  file.checkUnchanged()
  return columns
}

/** Describes a fault of the file, to continue a sentence after its name; undefined for other errors. */
export function describeDataFault(
  error: unknown,
): { readonly text: string; readonly remedy?: string | undefined } | undefined {
  if (error instanceof DataFault) return { text: `, ${error.message}` }
  if (error instanceof TenantDataFileError) return { text: `: ${error.message}` }
  if (error instanceof DataFileError) return { text: ` ${error.message}`, remedy: error.remedy }
  const isParquet = error instanceof Error && error.name === 'ParquetFault'
  return isParquet ? { text: `: ${error.message}` } : undefined
}

/** Parses the bytes of a text into columns. */
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
  onProgress: RecordReadOptions['onProgress'],
): RecordColumns {
  file.forEachTextChunk((bytes, done) => {
    onProgress(done - bytes.length, file.size)
    reader.push(bytes)
  })
  return reader.finish()
}

async function readParquetRecords(
  file: DataFile,
  { isWanted, onProgress, rows = data_limits.rows }: RecordReadOptions,
): Promise<RecordColumns> {
  const { ColumnBuilder } = await import('../../../roles/resolution/engine/records/column-builder.ts')
  const { parquetTable } = await import('../../../../adapters/format/parquet/parquet-table.ts')
  const table = await parquetTable(file, rows)
  const selected = table.names.filter(isWanted)
  const columns: RecordSource['columns'][number][] = []
  for (const [index, name] of selected.entries()) {
    onProgress(Math.floor((file.size * index) / selected.length), file.size)
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
