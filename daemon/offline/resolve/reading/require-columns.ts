// Refuses data that lack columns: those that a person named, and all of those that the lens reads.
import { createColumnFilter } from '../../../roles/resolution/engine/records/records.ts'
import type { Lens } from '../../../roles/resolution/lens/model.ts'
import { OfflineCommandError } from '../../offline-command-error.ts'
import type { ReadSource } from '../data-file.ts'

const max_listed = 20

/** `named`: columns that a person assigned to fields. Throws `OfflineCommandError` (1). */
export function requireColumns(
  lens: Lens,
  sources: readonly Pick<ReadSource, 'name' | 'names' | 'matched'>[],
  named: readonly string[],
): void {
  const columns = [...new Set(sources.flatMap(({ names }) => names))]
  const known = new Set([...columns, ...sources.flatMap(({ matched }) => matched.map(({ name }) => name))])
  const files = listNames(sources.map(({ name }) => name))
  const absent = named.filter((column) => !known.has(column))
  if (absent.length > 0)
    throw new OfflineCommandError(1, `${files} has no column ${absent.join(', ')}; it has ${listNames(columns)}`)
  const isRead = createColumnFilter(lens)
  // A field that is not optional is named when the records are built.
  if (lens.fields.some(({ optional }) => !optional)) return
  if ([...known].some((name) => name !== lens.id_field && isRead(name))) return
  throw new OfflineCommandError(
    1,
    `${files} has none of the columns that the lens names: it has ${listNames(columns)}`,
    `name them, as in --columns ${lens.fields[0]?.name}=COLUMN, or make a lens of the data with platform resolve lens init --data FILE`,
    [`fields of the lens: ${listNames(lens.fields.map(({ name }) => name))}`],
  )
}

function listNames(names: readonly string[]): string {
  const others = names.length - max_listed
  return `${names.slice(0, max_listed).join(', ')}${others > 0 ? ` and ${others} more` : ''}`
}
