// Finds a record of a run by its id, with its source where several have it.
import { OfflineCommandError } from '../../offline-command-error.ts'
import type { FileRun } from './open-run.ts'

/**
 * Finds the row of `ID` or `SOURCE:ID`; a source is named with or without its ending. Throws `OfflineCommandError`: 1 for an
 * unknown record, 2 for an id of several sources.
 */
export function findRecord({ records, rowOf }: Pick<FileRun, 'records' | 'rowOf'>, text: string): number {
  const { names } = records
  const ids = names.flatMap((source) => rowOf.get(`${source}\u0000${text}`) ?? [])
  const pairs = names.flatMap((source) =>
    [source, source.replace(/\.[^.]*$/, '')].flatMap((name) => {
      if (!text.startsWith(`${name}:`)) return []
      return rowOf.get(`${source}\u0000${text.slice(name.length + 1)}`) ?? []
    }),
  )
  const found = [...new Set([...ids, ...pairs])]
  const [row] = found
  if (row !== undefined && found.length === 1) return row
  if (found.length > 1) {
    const choices = found.map((each) => `${names[records.sources[each] ?? 0]}:${records.idOf(each)}`)
    throw new OfflineCommandError(
      2,
      `${JSON.stringify(text)} is the id of several records`,
      `name the source too: ${choices.slice(0, 5).join(', ')}`,
    )
  }
  throw new OfflineCommandError(
    1,
    `the run has no record ${JSON.stringify(text)}`,
    `name an id, or SOURCE:ID with a source of ${names.slice(0, 5).join(', ')}`,
  )
}
