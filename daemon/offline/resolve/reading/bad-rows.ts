// Collects the rows of data files that cannot be read: counts all, and keeps the first ones for the message.
import type { PlaceUnit } from '../../../../adapters/platform/data-file/data-kinds.ts'
import { OfflineCommandError } from '../../offline-command-error.ts'

/** `place`: the line, the row of a sheet, or the record. */
export type BadRow = { readonly place: number; readonly reason: string }

export type FileBadRows = {
  readonly file: string
  /** The unit that `place` counts. */
  readonly unit: PlaceUnit
  readonly count: number
  /** The first ones in order. */
  readonly first: readonly BadRow[]
}

/** Bad rows that are named. */
export const max_named_rows = 10

/** Counts all and keeps the first ones; a file can have millions. */
export class BadRowCollector {
  count = 0
  #first: BadRow[] = []

  get first(): readonly BadRow[] {
    return this.#first
  }

  add(row: BadRow): void {
    this.count++
    if (this.#first.length < max_named_rows) this.#first.push(row)
  }

  /** Adds rows that were found later, of which the first ones are given. */
  merge(count: number, first: readonly BadRow[]): void {
    this.count += count
    this.#first = [...this.#first, ...first].toSorted((a, b) => a.place - b.place).slice(0, max_named_rows)
  }
}

/** `remedy`: what the command offers. A single row is named in one line. */
export function badRowError(files: readonly FileBadRows[], remedy: string | undefined): OfflineCommandError {
  const count = files.reduce((sum, file) => sum + file.count, 0)
  const lines = files.flatMap(({ file, unit, first }) =>
    first.map(({ place, reason }) => ({ file, text: `${unit} ${place}: ${reason}` })),
  )
  const [only, second] = lines
  if (only && !second && count === 1) return new OfflineCommandError(1, `${only.file}, ${only.text}`, remedy)
  const [first] = files
  const isOne = files.length === 1
  const message = `${isOne ? first?.file : `${files.length} files`} cannot be read: ${count} rows are bad`
  const named = lines.slice(0, max_named_rows).map(({ file, text }) => (isOne ? text : `${file}, ${text}`))
  const rest = count > named.length ? [`and ${count - named.length} more`] : []
  return new OfflineCommandError(1, message, remedy, [...named, ...rest])
}

/** Describes rows that were left out. */
export function describeBadRows({ file, unit, count, first }: FileBadRows): string {
  const named = first.map(({ place, reason }) => `${unit} ${place}: ${reason}`).join('; ')
  return `${file}: ${count} bad row${count === 1 ? '' : 's'} left out: ${named}${count > first.length ? '; …' : ''}`
}
