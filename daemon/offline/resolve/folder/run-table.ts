// The tables in the folder of a run, whatever their format.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { resultKinds } from '../../../../adapters/platform/data-file/data-kinds.ts'
import { runAsInvoker } from '../../../boot/host/act-as-owner.ts'
import { unescapeFormula } from '../../../kernel/text/formula-cell.ts'
import { OfflineCommandError } from '../../offline-command-error.ts'
import { missingColumns, readDataFile } from '../data-file.ts'

export function findOptionalTable(folder: string, name: string): string | undefined {
  return resultKinds
    .map((kind) => join(folder, `${name}.${kind}`))
    .find((candidate) => runAsInvoker(() => existsSync(candidate)))
}

export function findTable(folder: string, name: string): string {
  const file = findOptionalTable(folder, name)
  if (file !== undefined) return file
  throw new OfflineCommandError(1, `${folder} has no ${name}.csv, .jsonl or .parquet`, 'run again into a new folder')
}

/** Reads cells as texts; each distinct one is decoded once. A column of `optional` that is not there has empty ones. */
export async function readTable(file: string, names: readonly string[], optional: readonly string[] = []) {
  const table = await readDataFile(file, (name) => names.includes(name) || optional.includes(name))
  const missing = names.filter((name) => !table.names.includes(name))
  if (missing.length > 0) throw missingColumns(file, missing, table.names)
  const decoder = new TextDecoder()
  const restore = file.endsWith('.csv') ? unescapeFormula : String
  const columns = new Map(
    table.columns.map(({ name, codes, values }) => [
      name,
      { codes, texts: Array.from({ length: values.size }, (_, code) => restore(decoder.decode(values.bytesOf(code)))) },
    ]),
  )
  const text = (name: string, line: number): string => {
    const column = columns.get(name)
    return column?.texts[column.codes[line] ?? -1] ?? ''
  }
  return {
    rows: table.rows,
    text,
    row(rowOf: ReadonlyMap<string, number>, source: string, id: string, line: number): number {
      const row = rowOf.get(`${text(source, line)}\u0000${text(id, line)}`)
      if (row !== undefined) return row
      const named = `${JSON.stringify(text(id, line))} of ${JSON.stringify(text(source, line))}`
      throw new OfflineCommandError(5, `${file}, record ${line + 1}: the data has no record ${named}`)
    },
  }
}
