// Parameters and form of every list: `limit`, opaque `cursor` and filters in; a page of items and their total out.
import * as z from 'zod'
import type { DocumentTotal, Filter, ListQuery } from '../store/store.ts'

export const listFields = {
  limit: z
    .int()
    .min(1)
    .max(500)
    .default(50)
    .meta({ description: 'Largest number of items of a page, which large items end earlier' }),
  cursor: z.string().max(1_024).optional().meta({ description: 'next_cursor of the previous page' }),
}

/** Number of items in the whole list, and whether it was counted to the end. */
export const totalFields = {
  total: z.int().min(0).meta({ description: 'Number of items in the whole list that the caller may see' }),
  total_is: z
    .enum(['exact', 'at_least'])
    .meta({ description: 'at_least: counting ended at a bound, and there may be more' }),
}

export function pageSchema<T extends z.ZodType>(item: T) {
  return z.strictObject({ items: z.array(item), next_cursor: z.string().optional(), ...totalFields })
}

export function exactTotal(total: number): DocumentTotal {
  return { total, total_is: 'exact' }
}

/** The answer of a list that is never divided into pages. */
export function wholeListSchema<T extends z.ZodType>(item: T) {
  return z.strictObject({ items: z.array(item), ...totalFields })
}

export function wholeList<T>(items: T[]): { items: T[] } & DocumentTotal {
  return { items, ...exactTotal(items.length) }
}

/** A store query from optional equality filters; absent ones do not filter. */
export function buildListQuery(
  filters: Readonly<Record<string, string | number | boolean | undefined>>,
  limit: number,
  cursor: string | undefined,
  order?: ListQuery['order'],
): ListQuery {
  const present = Object.entries(filters).filter(
    (entry): entry is [string, string | number | boolean] => entry[1] !== undefined,
  )
  const filter: Filter = Object.fromEntries(present)
  return { filter, limit, ...(cursor === undefined ? {} : { cursor }), ...(order ? { order } : {}) }
}
