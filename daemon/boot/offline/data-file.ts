// Reads records from a file of any kind that is known, piece by piece, whatever its size.
import { basename, extname } from 'node:path'
import { type CsvLimits, CsvReader, DataFault, separators } from '../../roles/resolution/engine/records/csv.ts'
import { JsonLinesReader } from '../../roles/resolution/engine/records/json-lines.ts'
import type { Source } from '../../roles/resolution/engine/records/records.ts'
import { asInvoker } from '../acting.ts'
import { FileFault, type OpenFile, openDataFile } from '../resolution/data-bytes.ts'
import { Objection } from './objection.ts'

/** What results may be. */
export const resultKinds = ['csv', 'jsonl', 'parquet'] as const
export type ResultKind = (typeof resultKinds)[number]
export type DataKind = ResultKind | 'tsv'

/** What one field, one line of JSON, and one file may hold. */
export const data_limits = { field_bytes: 1_048_576, line_bytes: 16_777_216, names: 4_096, rows: 50_000_000 }

/** Between the items of a list of values, which fields that are sets read as such. */
const between = '|'

const kindOf: Readonly<Record<string, DataKind>> = {
  '.tsv': 'tsv',
  '.tab': 'tsv',
  '.jsonl': 'jsonl',
  '.ndjson': 'jsonl',
  '.parquet': 'parquet',
  '.pq': 'parquet',
}

export type Reading = {
  /** What the file is, whatever its name says. */
  readonly kind?: DataKind | undefined
  /** The column that names a record, where there is one. */
  readonly id?: CsvLimits['id']
  /** Bytes that have been read, and all there are. It may throw, and reading ends with that. */
  readonly tell?: ((done: number, total: number) => void) | undefined
}

/**
 * Columns that are not wanted are read over. A file is what its ending says, comma-separated values unless it says more.
 * Throws `Objection` (1): what is wrong with the file, and in which line.
 */
export async function readDataFile(
  file: string,
  isWanted: (name: string) => boolean,
  { kind = dataKindOf(file), id, tell = () => undefined }: Reading = {},
): Promise<Source> {
  const read = await withDataFile(file, (opened) =>
    kind === 'parquet' ? readParquet(opened, isWanted, tell) : readText(opened, textReader(kind, isWanted, id), tell),
  )
  return { name: basename(file), ...read }
}

/** What `read` makes of an open file that stays as it is. Throws `Objection` (1): what is wrong with it. */
export async function withDataFile<T>(file: string, read: (opened: OpenFile) => T | Promise<T>): Promise<T> {
  try {
    const opened = asInvoker(() => openDataFile(file))
    try {
      const done = await read(opened)
      opened.checkUnchanged()
      return done
    } finally {
      opened.close()
    }
  } catch (error) {
    if (error instanceof DataFault) throw new Objection(1, `${file}, ${error.message}`)
    if (error instanceof FileFault) throw new Objection(1, `${file} ${error.message}`, error.remedy)
    if (error instanceof Error && error.name === 'ParquetFault') throw new Objection(1, `${file}: ${error.message}`)
    throw error
  }
}

export type TextKind = Exclude<DataKind, 'parquet'>

/** What takes the bytes of a text and makes columns of them. */
export function textReader(
  kind: TextKind,
  isWanted: (name: string) => boolean,
  id?: CsvLimits['id'],
): CsvReader | JsonLinesReader {
  const limits = { ...data_limits, id }
  if (kind === 'jsonl') return new JsonLinesReader(limits, isWanted, between)
  return new CsvReader(limits, isWanted, kind === 'tsv' ? separators.tab : separators.comma)
}

/** By the ending of its name; comma-separated values unless that says more. */
export function dataKindOf(file: string): DataKind {
  return kindOf[extname(file).toLowerCase()] ?? 'csv'
}

type Read = Omit<Source, 'name'>
type Tell = (done: number, total: number) => void

function readText(file: OpenFile, reader: CsvReader | JsonLinesReader, tell: Tell): Read {
  file.eachText((bytes, done) => {
    tell(done - bytes.length, file.size)
    reader.push(bytes)
  })
  return reader.finish()
}

async function readParquet(file: OpenFile, isWanted: (name: string) => boolean, tell: Tell): Promise<Read> {
  const { ColumnBuilder } = await import('../../roles/resolution/engine/records/column-builder.ts')
  const { parquetTable } = await import('../../../adapters/format/parquet/reading.ts')
  const table = await parquetTable(file, data_limits.rows)
  const wanted = table.names.filter(isWanted)
  const columns: Source['columns'][number][] = []
  for (const [at, name] of wanted.entries()) {
    tell(Math.floor((file.size * at) / wanted.length), file.size)
    const column = new ColumnBuilder(name)
    await table.read(name, between, (row, value) => {
      if (value.length > data_limits.field_bytes) {
        throw new FileFault(`has more than ${data_limits.field_bytes} bytes in record ${row + 1}, column ${name}`)
      }
      column.set(row, value)
    })
    columns.push(column.finish(table.rows))
  }
  return { names: table.names, rows: table.rows, columns }
}
