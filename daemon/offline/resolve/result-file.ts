// Writes a table of results atomically as comma-separated values, JSON lines or Parquet.
import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { runAsInvoker } from '../../boot/host/act-as-owner.ts'
import type { ResultKind } from '../../runtime/resolution/read-records.ts'
import { OfflineCommandError } from '../offline-command-error.ts'
import { CsvWriter } from './csv-writer.ts'

type ResultCell = string | number | boolean

export type ResultTable = {
  /** Name of the file, without its ending. */
  readonly name: string
  readonly columns: readonly { readonly name: string; readonly type: 'text' | 'whole' | 'real' | 'truth' }[]
  /** Cells in the order of the columns. */
  readonly rows: Iterable<readonly ResultCell[]>
  /** Writes the same rows as CSV, if there is a faster way. */
  readonly writeTo?: (writer: CsvWriter) => void
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

/** Rows of one Parquet row group, or of one chunk of text. */
const chunk_rows = 50_000

/**
 * Writes the table and returns the path of the file. `onChunk` is called before each chunk; if it throws, nothing is left.
 * Throws `OfflineCommandError`: 1 if the file cannot be written, 3 if it exists.
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

/** Renames the file into place once it is on disk; removes it after a failure. */
export function writeFileAtomically(
  file: string,
  fill: (write: ByteWriter) => void,
  onChunk: () => void = () => undefined,
): void {
  runAsInvoker(() => {
    const partial = `${file}.partial`
    const descriptor = convertWriteErrors(file, () => openSync(partial, 'wx', 0o600))
    try {
      try {
        fill((bytes) => {
          onChunk()
          convertWriteErrors(file, () => writeAll(descriptor, bytes))
        })
        convertWriteErrors(file, () => fsyncSync(descriptor))
      } finally {
        closeSync(descriptor)
      }
      if (existsSync(file)) throw fileInUseError(file)
      convertWriteErrors(file, () => renameSync(partial, file))
      syncFolder(dirname(file))
    } catch (error) {
      rmSync(partial, { force: true })
      throw error
    }
  })
}

/** Makes the name of the file durable. */
function syncFolder(folder: string): void {
  const descriptor = openSync(folder, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** Repeats `write`, which may write only a part. */
function writeAll(descriptor: number, bytes: Uint8Array): void {
  for (let offset = 0; offset < bytes.length; ) offset += writeSync(descriptor, bytes, offset)
}

function convertWriteErrors<T>(file: string, action: () => T): T {
  try {
    return action()
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') throw fileInUseError(file)
    throw new OfflineCommandError(
      1,
      `${file} cannot be written: ${write_error_reasons[code] ?? code}`,
      'the partial file was removed',
    )
  }
}

function fileInUseError(file: string): OfflineCommandError {
  return new OfflineCommandError(3, `another run writes to ${file}, or has written it`, 'name a new folder')
}

function writeCsv({ columns, rows, writeTo }: ResultTable, write: ByteWriter): void {
  const writer = new CsvWriter(write)
  writer.writeTexts(columns.map(({ name }) => name))
  if (writeTo) writeTo(writer)
  else for (const row of rows) writer.writeTexts(row.map(String))
  writer.flush()
}

function writeJsonLines({ columns, rows }: ResultTable, write: ByteWriter): void {
  const names = columns.map(({ name }) => name)
  for (const chunk of chunkRows(rows))
    write(Buffer.from(`${chunk.map((row) => formatJsonLine(names, row)).join('\n')}\n`))
}

function* chunkRows(rows: ResultTable['rows']): Generator<(readonly ResultCell[])[]> {
  let chunk: (readonly ResultCell[])[] = []
  for (const row of rows) {
    if (chunk.push(row) < chunk_rows) continue
    yield chunk
    chunk = []
  }
  if (chunk.length > 0) yield chunk
}

function formatJsonLine(names: readonly string[], row: readonly ResultCell[]): string {
  return `{${names.map((name, offset) => `${JSON.stringify(name)}:${JSON.stringify(row[offset])}`).join(',')}}`
}
