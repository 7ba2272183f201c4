// Finds the columns of a source that a lens names in another spelling: `First name` for `first_name`.
import type { Lens } from '../../lens/model.ts'
import { createColumnFilter } from './records.ts'

/** A column of the data under another name of the lens. */
export type ColumnMatch = { readonly name: string; readonly column: string }

/** Columns that could all be that of a field; `field` is undefined for that of the ids. */
export type AmbiguousColumns = { readonly field: string | undefined; readonly columns: readonly string[] }

export type ColumnMatches = {
  readonly matches: readonly ColumnMatch[]
  readonly ambiguous: readonly AmbiguousColumns[]
}

export type ColumnMatcher = {
  /** Whether the column may be read: a superset, since the names of JSON lines are complete only at their end. */
  isWanted(column: string): boolean
  isId(column: string): boolean
  match(columns: readonly string[]): ColumnMatches
}

/** Names of one column of which the first that the data has counts. */
type NameChoice = { readonly field: string | undefined; readonly names: readonly string[] }

/**
 * Normal form of the name of a column: without case, blanks, punctuation and the accents of Latin, Greek and Cyrillic letters. The
 * signs of other scripts, such as vowels of Devanagari, tell names apart. Empty for a name without letters and digits.
 */
export function normaliseColumnName(column: string): string {
  return column
    .normalize('NFKD')
    .replaceAll(/[\u0300-\u036f]/g, '')
    .toUpperCase()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{M}]/gu, '')
}

/**
 * Creates a matcher of names. For each field: an exact name wins; otherwise the first name of the lens that a column has in normal
 * form, unless two columns have it. `named`: columns that a person assigned; they win over the other names of their field.
 */
export function createColumnMatcher(lens: Lens, named: readonly string[] = []): ColumnMatcher {
  const isExact = createColumnFilter(lens)
  const choices = listChoices(lens)
  const forms = new Set(choices.flatMap(({ names }) => names.map(normaliseColumnName)))
  forms.delete('')
  const idForm = normaliseColumnName(lens.id_field)
  return {
    isWanted: (column) => isExact(column) || forms.has(normaliseColumnName(column)),
    isId: (column) => column === lens.id_field || (idForm !== '' && normaliseColumnName(column) === idForm),
    match(columns) {
      const known = new Set(columns)
      const all = groupByForm(columns)
      // A column that the lens names exactly is not that of another field.
      const unnamed = groupByForm(columns.filter((column) => !isExact(column)))
      const matches = new Map<string, string>()
      const ambiguous: AmbiguousColumns[] = []
      for (const { field, names } of choices) {
        const assigned = names.filter((name) => named.includes(name))
        const found =
          findColumn(assigned, known, all) ??
          findColumn(
            names.filter((name) => !assigned.includes(name)),
            known,
            unnamed,
          )
        const [only, ...others] = found?.columns ?? []
        if (found === undefined || only === undefined) continue
        if (others.length === 0) matches.set(found.name, only)
        else ambiguous.push({ field, columns: found.columns })
      }
      return { matches: [...matches].map(([name, column]) => ({ name, column })), ambiguous }
    },
  }
}

/** A joined field needs each of its columns. */
function listChoices({ id_field, fields }: Lens): NameChoice[] {
  return [
    { field: undefined, names: [id_field] },
    ...fields.flatMap(({ name: field, columns, join }) =>
      join ? join.map((name) => ({ field, names: [name] })) : [{ field, names: columns ?? [field] }],
    ),
  ]
}

/** Returns no columns for an exact name, and undefined where the data has none of the names. */
function findColumn(
  names: readonly string[],
  known: ReadonlySet<string>,
  byForm: ReadonlyMap<string, readonly string[]>,
): { readonly name: string; readonly columns: readonly string[] } | undefined {
  const exact = names.find((name) => known.has(name))
  if (exact !== undefined) return { name: exact, columns: [] }
  for (const name of names) {
    const columns = byForm.get(normaliseColumnName(name))
    if (columns) return { name, columns }
  }
  return undefined
}

function groupByForm(columns: readonly string[]): Map<string, string[]> {
  const byForm = new Map<string, string[]>()
  for (const column of new Set(columns)) {
    const form = normaliseColumnName(column)
    if (form === '') continue
    const group = byForm.get(form)
    if (group) group.push(column)
    else byForm.set(form, [column])
  }
  return byForm
}
