// Writes a table of results as a file that is whole or not there: comma-separated, JSON lines or Parquet.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { writeDurably, writeFully } from '../../../adapters/platform/durable-file/write-durably.ts'
import { runAsInvoker } from '../../boot/host/act-as-owner.ts'
import type { ResultKind } from '../../runtime/resolution/read-records.ts'
import { OfflineCommandError } from '../offline-command-error.ts'
import { CsvWriter } from './csv-writer.ts'

type ResultCell = string | number | boolean

export type ResultTable = {
  /** Of the file, without its ending. */
  readonly name: string
  readonly columns: readonly { readonly name: string; readonly type: 'text' | 'whole' | 'real' | 'truth' }[]
  /** Cells in the order of the columns. */
  readonly rows: Iterable<readonly ResultCell[]>
  /** The same rows into a sheet, where that can be done with less. */
  readonly writeTo?: (sheet: CsvWriter) => void
}

/** Writes bytes to the end, all of them. */
type ByteWriter = (bytes: Uint8Array) => void

const write_error_reasons: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk is full',
  EFBIG: 'it exceeds the maximum file size',
  EROFS: 'the disk is read-only',
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
}

/** One row group of Parquet, or one piece of text. */
const chunk_rows = 50_000

/**
 * The file that was written: the name of the table with the ending of its kind. `alive` is called piece by piece; where it
 * throws, nothing is left. Throws `OfflineCommandError`: 1 where it cannot be written, 3 where it is there.
 */
export async function writeResultTable(
  folder: string,
  table: ResultTable,
  kind: ResultKind,
  alive: () => void = () => undefined,
): Promise<string> {
  const file = join(folder, `${table.name}.${kind}`)
  if (kind !== 'parquet') {
    writeFileAtomically(file, (write) => (kind === 'csv' ? writeCsv : writeJsonLines)(table, write), alive)
    return file
  }
  const { parquetSink } = await import('../../../adapters/format/parquet/parquet-sink.ts')
  writeFileAtomically(
    file,
    (write) => {
      const sink = parquetSink(table.columns, write)
      for (const piece of chunkRows(table.rows)) {
        sink.group(table.columns.map((_, column) => piece.map((row) => row[column])))
      }
      sink.finish()
    },
    alive,
  )
  return file
}

/** Nothing has the name of the file before all of it is on disk; what failed is taken away again. */
export function writeFileAtomically(
  file: string,
  fill: (write: ByteWriter) => void,
  alive: () => void = () => undefined,
): void {
  const write = (opened: number) =>
    fill((bytes) => {
      alive()
      writeFully(opened, bytes)
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
  for (const piece of chunkRows(rows))
    write(Buffer.from(`${piece.map((row) => formatJsonLine(names, row)).join('\n')}\n`))
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
