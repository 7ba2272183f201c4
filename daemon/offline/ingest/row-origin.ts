// Answers where a row of a landed dataset comes from, by its number or by a value of it.
import { OfflineCommandError } from '../offline-command-error.ts'
import { type DescribedDataset, openDescribedDataset } from './described-dataset.ts'
import { findRows } from './find-rows.ts'
import { type RowOrigin, traceRows } from './trace-rows.ts'

/** `where`: a column and a value of it. */
export type RowOriginRequest = {
  readonly folder: string
  readonly row?: number | undefined
  readonly where?: { readonly column: string; readonly value: string } | undefined
}

export type RowOrigins = {
  readonly rows: readonly RowOrigin[]
  /** Whether there are more than those. */
  readonly has_more: boolean
}

const max_rows = 100

/** Throws `OfflineCommandError`: 1 where there is no such row, 5 for a damaged dataset. */
export async function findRowOrigins({ folder, row, where }: RowOriginRequest): Promise<RowOrigins> {
  const dataset = openDescribedDataset(folder)
  const found = where ? await findRowsWith(dataset, where) : row === undefined ? [] : [row]
  if (where && found.length === 0)
    throw new OfflineCommandError(1, `${folder} has no row with ${where.column}=${where.value}`)
  const origins = await traceRows(dataset, found.slice(0, max_rows))
  return { rows: [...origins.values()], has_more: found.length > max_rows }
}

async function findRowsWith(dataset: DescribedDataset, { column, value }: { column: string; value: string }) {
  return (await findRows(dataset, column, [value], max_rows)).get(value) ?? []
}
