// Writes an export: rows that arrive page by page, into one file that is whole or absent.
import { existsSync } from 'node:fs'
import type { ResultKind } from '../../../adapters/platform/data-file/data-kinds.ts'
import { writeDataFile } from '../../../adapters/platform/data-file/write-data-file.ts'
import { runAsInvoker } from '../../boot/host/act-as-owner.ts'
import { type DataBlock, TextColumnBuilder } from '../../kernel/data/data-block.ts'
import type { DataSchema } from '../../kernel/data/data-schema.ts'
import { OfflineCommandError } from '../offline-command-error.ts'
import { requireNewFile } from './new-files.ts'

export type ExportedTable = {
  readonly kind: ResultKind
  readonly columns: DataSchema
  /** Cells in the order of the columns, empty for a missing value; one page of rows is held in memory at a time. */
  readonly pages: AsyncIterable<readonly (readonly string[])[]>
}

/** Rows of a block: a row group of Parquet. */
const block_rows = 10_000

/** Throws `OfflineCommandError`: 3 if the file exists or is being written, 1 if it cannot be written; and what reading the pages throws. */
export async function writeExportFile(file: string, { kind, columns, pages }: ExportedTable): Promise<void> {
  requireNewFile(file)
  const content = { kind, schema: columns, blocks: buildBlocks(columns, pages) }
  const beforeRename = () => requireUnused(file)
  await writeDataFile(file, content, { beforeRename, runAs: runAsInvoker }).catch((error: unknown) => {
    const { syscall, code } = error as NodeJS.ErrnoException
    if (syscall === undefined) throw error
    if (code !== 'EEXIST') throw new OfflineCommandError(1, `${file} cannot be written: ${code}`)
    const remedy = 'name a new file, or remove the .partial file if no other export is running'
    throw new OfflineCommandError(3, `another export is writing ${file}, or was interrupted`, remedy)
  })
}

function requireUnused(file: string): void {
  if (runAsInvoker(() => existsSync(file)))
    throw new OfflineCommandError(3, `${file} already exists`, 'name a new file')
}

async function* buildBlocks(columns: DataSchema, pages: ExportedTable['pages']): AsyncGenerator<DataBlock> {
  const names = columns.map(({ name }) => name)
  const builders = names.map((name) => new TextColumnBuilder(name))
  let rows = 0
  for await (const page of pages) {
    for (const row of page) for (const [at, builder] of builders.entries()) builder.add(row[at] || undefined)
    rows += page.length
    if (rows < block_rows) continue
    yield { rows, names, columns: builders.map((builder) => builder.column()) }
    for (const builder of builders) builder.clear()
    rows = 0
  }
  yield { rows, names, columns: builders.map((builder) => builder.column()) }
}
