// Writes a table of results as CSV, JSON lines or Parquet: the whole file or none.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { writeDurably, writeFully } from '../../../adapters/platform/durable-file/write-durably.ts'
import { runAsInvoker } from '../../boot/host/act-as-owner.ts'
import type { ResultKind } from '../../runtime/resolution/files/read-records.ts'
import { OfflineCommandError } from '../offline-command-error.ts'
import { CsvWriter } from './csv-writer.ts'

type ResultCell = string | number | boolean

export type ResultTable = {
  /** File name without extension. */
  readonly name: string
  readonly columns: readonly { readonly name: string; readonly type: 'text' | 'whole' | 'real' | 'truth' }[]
  /** Cells in the order of the columns. */
  readonly rows: Iterable<readonly ResultCell[]>
  /** Writes the same rows to a CSV writer, with fewer allocations. */
  readonly writeTo?: (sheet: CsvWriter) => void
}

/** Appends all bytes. */
type ByteWriter = (bytes: Uint8Array) => void

const write_error_reasons: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk is full',
  EFBIG: 'it exceeds the maximum file size',
  EROFS: 'the disk is read-only',
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
}

/** Rows of a Parquet row group, or of one chunk of text. */
const chunk_rows = 50_000

/**
 * Returns the path of the written file: the name of the table with the extension of its kind. `onChunk` is called before each
 * chunk; if it throws, no file is left. Throws `OfflineCommandError`: 1 if the file cannot be written, 3 if it exists.
 */
export async function writeResultTable(
  folder: string,
  table: ResultTable,
  kind: ResultKind,
  onChunk: () => void = () => undefined,
): Promise<string> {
  const file = join(folder, `${table.name}.${kind}`)
  if (kind !== 'parquet') {
    writeFileAtomically(file, (write) => (kind === 'csv' ? writeCsv : writeJsonLines)(table, write), onChunk)
    return file
  }
  const { parquetSink } = await import('../../../adapters/format/parquet/parquet-sink.ts')
  writeFileAtomically(
    file,
    (write) => {
      const sink = parquetSink(table.columns, write)
      for (const chunk of chunkRows(table.rows)) {
        sink.group(table.columns.map((_, column) => chunk.map((row) => row[column])))
      }
      sink.finish()
    },
    onChunk,
  )
  return file
}

/** The file has its name only after all of it is on disk. A partial file is removed after a failure. */
export function writeFileAtomically(
  file: string,
  fill: (write: ByteWriter) => void,
  onChunk: () => void = () => undefined,
): void {
  const write = (descriptor: number) =>
    fill((bytes) => {
      onChunk()
      writeFully(descriptor, bytes)
    })
  const beforeRename = () => {
    if (existsSync(file)) throw fileInUseError(file)
  }
  try {
    runAsInvoker(() => writeDurably(file, write, { draft: `${file}.partial`, beforeRename }))
  } catch (error) {
    throw (error as NodeJS.ErrnoException).syscall === undefined
      ? error
      : convertWriteError(file, error as NodeJS.ErrnoException)
  }
}

function convertWriteError(file: string, { code = '' }: NodeJS.ErrnoException): OfflineCommandError {
  if (code === 'EEXIST') return fileInUseError(file)
  return new OfflineCommandError(
    1,
    `${file} cannot be written: ${write_error_reasons[code] ?? code}`,
    'the partial file was removed',
  )
}

function fileInUseError(file: string): OfflineCommandError {
  return new OfflineCommandError(3, `another run writes to ${file}, or has written it`, 'name a new folder')
}

function writeCsv({ columns, rows, writeTo }: ResultTable, write: ByteWriter): void {
  const sheet = new CsvWriter(write)
  sheet.writeTexts(columns.map(({ name }) => name))
  if (writeTo) writeTo(sheet)
  else for (const row of rows) sheet.writeTexts(row.map(String))
  sheet.flush()
}

function writeJsonLines({ columns, rows }: ResultTable, write: ByteWriter): void {
  const names = columns.map(({ name }) => name)
  for (const chunk of chunkRows(rows))
    write(Buffer.from(`${chunk.map((row) => formatJsonLine(names, row)).join('\n')}\n`))
}

function* chunkRows(rows: ResultTable['rows']): Generator<(readonly ResultCell[])[]> {
  let piece: (readonly ResultCell[])[] = []
  for (const row of rows) {
    if (piece.push(row) < chunk_rows) continue
    yield piece
    piece = []
  }
  if (piece.length > 0) yield piece
}

function formatJsonLine(names: readonly string[], row: readonly ResultCell[]): string {
  return `{${names.map((name, at) => `${JSON.stringify(name)}:${JSON.stringify(row[at])}`).join(',')}}`
}
