// A page of the newest objects of a kind, shown some at a time.
import type { Call } from '../../kernel/operation/call.ts'
import { buildListQuery } from '../../kernel/operation/paging.ts'
import type { CountedPage } from '../../kernel/store/scoped-store.ts'
import type { Collection, Doc, StoredFields } from '../../kernel/store/store.ts'

type PageRequest = { readonly limit: number; readonly cursor?: string | undefined }

/** `at_once`: objects that are shown at a time, where each takes requests of its own. */
export async function showNewest<T extends StoredFields, V>(
  call: Call,
  collection: Collection<T>,
  { limit, cursor }: PageRequest,
  show: (doc: Doc<T>) => V | Promise<V>,
  at_once = 8,
): Promise<Omit<CountedPage<T>, 'docs'> & { items: V[] }> {
  const order = { field: 'created_at', direction: 'desc' } as const
  const { docs, ...page } = await call.store(collection).page(buildListQuery({}, limit, cursor, order))
  const items: V[] = []
  for (let at = 0; at < docs.length; at += at_once)
    items.push(...(await Promise.all(docs.slice(at, at + at_once).map(show))))
  return { ...page, items }
}
