// Columns with the ids of a command's files: one of all files, and others of single files.
import { basename } from 'node:path'
import { OfflineCommandError } from '../../offline-command-error.ts'
import type { ReadSource } from '../data-file.ts'
import { nameSource, type SourceNames } from './source-names.ts'

/** Columns with the ids, by file. */
export type IdColumnsByFile = ReadonlyMap<string, string>

export type IdColumns = {
  /** That of every file without one of its own; undefined for that of the lens. */
  readonly id_field: string | undefined
  readonly byFile: IdColumnsByFile
}

/**
 * Assigns columns to files, each as `FILE=COLUMN`, or as `COLUMN` to all other files. A file is named by its path, its name or its
 * source. Throws `OfflineCommandError` (2).
 */
export function assignIdColumns(files: readonly string[], words: readonly string[], sources: SourceNames): IdColumns {
  let id_field: string | undefined
  const byFile = new Map<string, string>()
  for (const word of words) {
    const [file, column] = parseIdColumn(word, files, sources)
    if (column === '') throw new OfflineCommandError(2, `--id-field ${JSON.stringify(word)} names no column`)
    if (file === undefined) {
      if (id_field !== undefined)
        throw new OfflineCommandError(
          2,
          `--id-field names two columns for all files: ${id_field} and ${column}`,
          describeForm(files),
        )
      id_field = column
      continue
    }
    if (byFile.has(file)) throw new OfflineCommandError(2, `--id-field names ${file} twice`)
    byFile.set(file, column)
  }
  return { id_field, byFile }
}

/** A path, or a column, may have the sign too: the first one behind a file counts. */
function parseIdColumn(
  word: string,
  files: readonly string[],
  sources: SourceNames,
): readonly [file: string | undefined, column: string] {
  if (!word.includes('=')) return [undefined, word]
  for (let at = word.indexOf('='); at >= 0; at = word.indexOf('=', at + 1)) {
    const named = word.slice(0, at)
    const found = files.filter((file) => file === named || sources.get(file) === named)
    const [file, other] = found.length > 0 ? found : files.filter((each) => basename(each) === named)
    if (file !== undefined && other === undefined) return [file, word.slice(at + 1)]
  }
  throw new OfflineCommandError(2, `--id-field ${word} names none of the data files`, describeForm(files))
}

function describeForm(files: readonly string[]): string {
  return `write COLUMN for all files, or FILE=COLUMN with a file of ${files.slice(0, 5).join(', ')}`
}

/** Refuses a file without the column that a person named for it. Throws `OfflineCommandError` (1). */
export function requireIdColumn(
  file: string,
  column: string,
  { names, columns }: Pick<ReadSource, 'names' | 'columns'>,
  sources: SourceNames | undefined,
): void {
  if (columns.some(({ name }) => name === column)) return
  const [first = ''] = names
  throw new OfflineCommandError(
    1,
    `${nameSource(file, sources)} has no column ${column}; it has ${names.join(', ')}`,
    `name the column with its ids, as in --id-field ${JSON.stringify(`${nameSource(file, sources)}=${first}`)}`,
  )
}
