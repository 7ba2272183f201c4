// The columns of a table that a request reads, among those that the source has.
import { max_source_columns, nameSome, type RowRequest, RowSourceError } from './row-source.ts'

/** In the order of the request, or of the source. Throws `RowSourceError`. */
export function chooseTableColumns<T extends { readonly name: string }>(
  { columns }: RowRequest,
  known: readonly T[],
): readonly T[] {
  const byName = new Map(known.map((each) => [each.name, each]))
  const wanted = columns && columns.length > 0 ? columns : [...byName.keys()]
  const missing = wanted.filter((name) => !byName.has(name))
  if (missing.length > 0)
    throw new RowSourceError(`the table has no column ${nameSome(missing)}: it has ${nameSome([...byName.keys()])}`)
  if (wanted.length === 0) throw new RowSourceError('the table has no column')
  if (wanted.length > max_source_columns)
    throw new RowSourceError(`the table has more than ${max_source_columns} columns: name those to read`)
  return wanted.flatMap((name) => byName.get(name) ?? [])
}

/** Of the cursor, where the request has one. Throws `RowSourceError`. */
export function chooseCursorColumn<T extends { readonly name: string }>(
  { table, cursor }: RowRequest,
  known: readonly T[],
): T | undefined {
  return cursor && chooseTableColumns({ table, columns: [cursor.column] }, known)[0]
}
