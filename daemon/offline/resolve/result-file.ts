// Writes a table of results as CSV, JSON lines or Parquet: the whole file or none.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { CsvWriter } from '../../../adapters/format/csv/csv-writer.ts'
import type { ResultKind } from '../../../adapters/platform/data-file/data-kinds.ts'
import { writeDataFile } from '../../../adapters/platform/data-file/write-data-file.ts'
import { writeDurably, writeFully } from '../../../adapters/platform/durable-file/write-durably.ts'
import { runAsInvoker } from '../../boot/host/act-as-owner.ts'
import { type DataBlock, TextColumnBuilder } from '../../kernel/data/data-block.ts'
import type { DataSchema } from '../../kernel/data/data-schema.ts'
import type { ByteSink } from '../../kernel/data/data-writer.ts'
import { OfflineCommandError } from '../offline-command-error.ts'

/** Undefined for a missing value. */
type ResultCell = string | number | boolean | undefined

export type ResultTable = {
  /** File name without extension. */
  readonly name: string
  readonly columns: DataSchema
  /** Cells in the order of the columns. */
  readonly rows: Iterable<readonly ResultCell[]>
  /** Writes the same rows to a CSV writer, with fewer allocations. */
  readonly writeTo?: (sheet: CsvWriter) => void
}

/** A table whose rows come in blocks, such as those of a data file. */
export type BlockTable = Pick<ResultTable, 'name' | 'columns'> & { readonly blocks: AsyncIterable<DataBlock> }

const write_error_reasons: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk is full',
  EFBIG: 'it exceeds the maximum file size',
  EROFS: 'the disk is read-only',
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
}

/** Rows of a Parquet row group, or of one chunk of text. */
export const chunk_rows = 50_000

/**
 * Returns the path of the written file: the name of the table with the extension of its kind. `onChunk` is called before each
 * chunk; if it throws, no file is left. Throws `OfflineCommandError`: 1 if the file cannot be written, 3 if it exists.
 */
export async function writeResultTable(
  folder: string,
  table: ResultTable | BlockTable,
  kind: ResultKind,
  onChunk: () => void = () => undefined,
): Promise<string> {
  const file = join(folder, `${table.name}.${kind}`)
  const { columns } = table
  if ('writeTo' in table && kind === 'csv') {
    const { writeTo } = table
    writeFileAtomically(file, (write) => writeSheet(columns, writeTo, write), onChunk)
    return file
  }
  const content = { kind, schema: columns, blocks: 'blocks' in table ? table.blocks : buildBlocks(table) }
  const beforeRename = () => requireUnused(file)
  await writeDataFile(file, content, { beforeWrite: onChunk, beforeRename, runAs: runAsInvoker }).catch(
    (error: unknown) => throwWriteError(file, error),
  )
  return file
}

/** The file has its name only after all of it is on disk. A partial file is removed after a failure. */
export function writeFileAtomically(
  file: string,
  fill: (write: ByteSink) => void,
  onChunk: () => void = () => undefined,
): void {
  const write = (descriptor: number) =>
    fill((bytes) => {
      onChunk()
      writeFully(descriptor, bytes)
    })
  const beforeRename = () => requireUnused(file)
  try {
    runAsInvoker(() => writeDurably(file, write, { draft: `${file}.partial`, beforeRename }))
  } catch (error) {
    throwWriteError(file, error)
  }
}

function requireUnused(file: string): void {
  if (existsSync(file)) throw fileInUseError(file)
}

function throwWriteError(file: string, error: unknown): never {
  const { syscall, code = '' } = error as NodeJS.ErrnoException
  if (syscall === undefined) throw error
  if (code === 'EEXIST') throw fileInUseError(file)
  throw new OfflineCommandError(
    1,
    `${file} cannot be written: ${write_error_reasons[code] ?? code}`,
    'the partial file was removed',
  )
}

function fileInUseError(file: string): OfflineCommandError {
  return new OfflineCommandError(3, `another run writes to ${file}, or has written it`, 'name a new folder')
}

function writeSheet(columns: DataSchema, writeTo: (sheet: CsvWriter) => void, write: ByteSink): void {
  const sheet = new CsvWriter(write)
  sheet.writeTexts(columns.map(({ name }) => name))
  writeTo(sheet)
  sheet.flush()
}

function* buildBlocks({ columns, rows }: ResultTable): Generator<DataBlock> {
  const builders = columns.map(({ name }) => new TextColumnBuilder(name))
  const names = columns.map(({ name }) => name)
  let count = 0
  for (const row of rows) {
    for (const [at, builder] of builders.entries()) {
      const cell = row[at]
      builder.add(cell === undefined ? undefined : String(cell))
    }
    if (++count < chunk_rows) continue
    yield { rows: count, names, columns: builders.map((builder) => builder.column()) }
    for (const builder of builders) builder.clear()
    count = 0
  }
  yield { rows: count, names, columns: builders.map((builder) => builder.column()) }
}
