// Writes a table of results as a file that is whole or not there: comma-separated, JSON lines or Parquet.
import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { asInvoker } from '../acting.ts'
import type { ResultKind } from '../resolution/read-records.ts'
import { Objection } from './objection.ts'
import { Sheet } from './sheet.ts'

type Cell = string | number | boolean

export type ResultTable = {
  /** Of the file, without its ending. */
  readonly name: string
  readonly columns: readonly { readonly name: string; readonly type: 'text' | 'whole' | 'real' | 'truth' }[]
  /** Cells in the order of the columns. */
  readonly rows: Iterable<readonly Cell[]>
  /** The same rows into a sheet, where that can be done with less. */
  readonly writeTo?: (sheet: Sheet) => void
}

/** Writes bytes to the end, all of them. */
type Write = (bytes: Uint8Array) => void

const reasons: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk is full',
  EFBIG: 'it would be larger than files may be here',
  EROFS: 'the disk is read-only',
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
}

/** One row group of Parquet, or one piece of text. */
const piece_rows = 50_000

/**
 * The file that was written: the name of the table with the ending of its kind. `alive` is called piece by piece; where it
 * throws, nothing is left. Throws `Objection`: 1 where it cannot be written, 3 where it is there.
 */
export async function writeTable(
  folder: string,
  table: ResultTable,
  kind: ResultKind,
  alive: () => void = () => undefined,
): Promise<string> {
  const file = join(folder, `${table.name}.${kind}`)
  if (kind !== 'parquet') {
    writeWhole(file, (write) => (kind === 'csv' ? writeSheet : writeLines)(table, write), alive)
    return file
  }
  const { parquetSink } = await import('../../../adapters/format/parquet/writing.ts')
  writeWhole(
    file,
    (write) => {
      const sink = parquetSink(table.columns, write)
      for (const piece of pieces(table.rows)) {
        sink.group(table.columns.map((_, column) => piece.map((row) => row[column])))
      }
      sink.finish()
    },
    alive,
  )
  return file
}

/** Nothing has the name of the file before all of it is on disk; what failed is taken away again. */
export function writeWhole(file: string, fill: (write: Write) => void, alive: () => void = () => undefined): void {
  asInvoker(() => {
    const partial = `${file}.partial`
    const opened = refusing(file, () => openSync(partial, 'wx', 0o600))
    try {
      try {
        fill((bytes) => {
          alive()
          refusing(file, () => writeAll(opened, bytes))
        })
        refusing(file, () => fsyncSync(opened))
      } finally {
        closeSync(opened)
      }
      if (existsSync(file)) throw inUse(file)
      refusing(file, () => renameSync(partial, file))
      syncFolder(dirname(file))
    } catch (error) {
      rmSync(partial, { force: true })
      throw error
    }
  })
}

/** The name is on disk as well. */
function syncFolder(folder: string): void {
  const opened = openSync(folder, 'r')
  try {
    fsyncSync(opened)
  } finally {
    closeSync(opened)
  }
}

/** The system may take less than it was given. */
function writeAll(opened: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(opened, bytes, at)
}

function refusing<T>(file: string, act: () => T): T {
  try {
    return act()
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') throw inUse(file)
    throw new Objection(1, `${file} cannot be written: ${reasons[code] ?? code}`, 'nothing of it was left behind')
  }
}

function inUse(file: string): Objection {
  return new Objection(3, `another run writes to ${file}, or has done so`, 'name a new folder')
}

function writeSheet({ columns, rows, writeTo }: ResultTable, write: Write): void {
  const sheet = new Sheet(write)
  sheet.texts(columns.map(({ name }) => name))
  if (writeTo) writeTo(sheet)
  else for (const row of rows) sheet.texts(row.map(String))
  sheet.flush()
}

function writeLines({ columns, rows }: ResultTable, write: Write): void {
  const names = columns.map(({ name }) => name)
  for (const piece of pieces(rows)) write(Buffer.from(`${piece.map((row) => jsonLine(names, row)).join('\n')}\n`))
}

function* pieces(rows: ResultTable['rows']): Generator<(readonly Cell[])[]> {
  let piece: (readonly Cell[])[] = []
  for (const row of rows) {
    if (piece.push(row) < piece_rows) continue
    yield piece
    piece = []
  }
  if (piece.length > 0) yield piece
}

function jsonLine(names: readonly string[], row: readonly Cell[]): string {
  return `{${names.map((name, at) => `${JSON.stringify(name)}:${JSON.stringify(row[at])}`).join(',')}}`
}
