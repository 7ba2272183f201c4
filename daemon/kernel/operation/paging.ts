// Parameters and form of every list: `limit`, opaque `cursor` and filters in, `{items, next_cursor}` out.
import * as z from 'zod'
import type { Filter, ListQuery } from '../store/store.ts'

export const listFields = {
  limit: z
    .int()
    .min(1)
    .max(500)
    .default(50)
    .meta({ description: 'Largest number of items of a page, which large items end earlier' }),
  cursor: z.string().max(1_024).optional().meta({ description: 'next_cursor of the previous page' }),
}

export function pageSchema<T extends z.ZodType>(item: T) {
  return z.strictObject({ items: z.array(item), next_cursor: z.string().optional() })
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
