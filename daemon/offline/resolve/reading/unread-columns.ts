// Finds the columns of a data file that no field of the lens reads, and remarks them: they may be what tells records apart.
import { formatCount } from '../../../kernel/text/format-count.ts'
import { shortenText } from '../../../kernel/text/shorten-text.ts'
import type { Lens } from '../../../roles/resolution/lens/model.ts'
import type { ReadSource } from '../data-file.ts'
import type { RecordReading } from '../lens-records.ts'
import type { FileReading } from './file-reading.ts'

export type UnreadColumns = {
  readonly count: number
  /** The first ones in the order of the file. */
  readonly first: readonly string[]
}

const max_named_columns = 10
const max_name_characters = 60
const max_named_sources = 5
const remedy = '`platform resolve lens init --data FILE` proposes a lens with them'

/** Returns undefined where every column is read. The column with the ids is not one to compare. */
export function findUnreadColumns(
  lens: Lens,
  { names, columns, matched }: Pick<ReadSource, 'names' | 'columns' | 'matched'>,
): UnreadColumns | undefined {
  const found = new Set(columns.map(({ name }) => name))
  const read = new Set(lens.fields.flatMap((field) => field.join ?? findFirst(field.columns ?? [field.name], found)))
  read.add(lens.id_field)
  for (const { name, column } of matched) if (read.has(name)) read.add(column)
  const unread = names.filter((name) => !read.has(name))
  if (unread.length === 0) return undefined
  const first = unread.slice(0, max_named_columns).map((name) => shortenText(name, max_name_characters))
  return { count: unread.length, first }
}

/** A field reads the first of its columns that the data has. */
function findFirst(names: readonly string[], found: ReadonlySet<string>): string[] {
  const first = names.find((name) => found.has(name))
  return first === undefined ? [] : [first]
}

/** Remarks the columns of each file, for a command that has no summary of the files. */
export function remarkUnreadColumns(
  names: readonly string[],
  readings: readonly FileReading[],
  onRemark: RecordReading['onRemark'],
): void {
  for (const [at, { not_compared }] of readings.entries())
    if (not_compared) onRemark?.(`${names[at]}: not compared: ${listColumns(not_compared)} (${remedy})`)
}

type SourceReading = { readonly name: string; readonly read_as: Pick<FileReading, 'not_compared'> }

/** Names the columns of the first files that have some, for the summary of several; undefined where all are read. */
export function describeUnreadColumns(sources: readonly SourceReading[]): string | undefined {
  const unread = sources.flatMap(({ name, read_as: { not_compared } }) =>
    not_compared ? [{ name, columns: listColumns(not_compared) }] : [],
  )
  if (unread.length === 0) return undefined
  const named = unread
    .slice(0, max_named_sources)
    .map(({ name, columns }) => (sources.length === 1 ? columns : `${name}: ${columns}`))
  const others = unread.length - named.length
  const rest = others > 0 ? `; columns of ${formatCount(others, 'more file', 'more files')}` : ''
  return `${named.join('; ')}${rest} (${remedy})`
}

function listColumns({ count, first }: UnreadColumns): string {
  const others = count - first.length
  return `${first.join(', ')}${others > 0 ? ` and ${others} more` : ''}`
}
