// Gives the columns of a source the names that its lens has for them, and reports those of another spelling.
import type {
  AmbiguousColumns,
  ColumnMatch,
  ColumnMatcher,
} from '../../../roles/resolution/engine/records/match-columns.ts'
import type { RecordSource } from '../../../roles/resolution/engine/records/records.ts'
import { OfflineCommandError } from '../../offline-command-error.ts'

type SourceContent = Omit<RecordSource, 'name'>

/**
 * The columns that the lens reads, under its names; `names` stay those of the file. Throws `OfflineCommandError` (1) where two
 * columns could be that of a field.
 */
export function matchSourceColumns<T extends SourceContent>(
  file: string,
  content: T,
  matcher: ColumnMatcher,
  isNamed: (column: string) => boolean,
): { readonly content: T; readonly matched: readonly ColumnMatch[] } {
  const { matches, ambiguous } = matcher.match(content.names)
  const [first] = ambiguous
  if (first) throw ambiguousColumns(file, first)
  const exact = content.columns.filter(({ name }) => isNamed(name))
  const renamed = matches.flatMap(({ name, column }) => {
    const found = content.columns.find((candidate) => candidate.name === column)
    return found ? [{ ...found, name }] : []
  })
  return { content: { ...content, columns: [...exact, ...renamed] }, matched: matches }
}

function ambiguousColumns(file: string, { field, columns }: AmbiguousColumns): OfflineCommandError {
  const [first = ''] = columns
  const option =
    field === undefined ? `--id-field ${JSON.stringify(first)}` : `--columns ${JSON.stringify(`${field}=${first}`)}`
  return new OfflineCommandError(
    1,
    `${file} has ${columns.length} columns that could be ${field === undefined ? 'that of the ids' : field}: ${columns.map((column) => JSON.stringify(column)).join(', ')}`,
    `name the one that is meant, as in ${option}`,
  )
}

/** Describes the columns whose names are those of the lens but for their spelling. */
export function describeMatches(matched: readonly ColumnMatch[]): string {
  return matched.map(({ name, column }) => `${JSON.stringify(column)} as ${name}`).join(', ')
}
