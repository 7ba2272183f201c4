// Iterates over all documents of a query, page by page.
import type { ScopedStore } from './scoped-store.ts'
import type { Doc, ListQuery, StoredFields } from './store.ts'

type DocumentQuery = Omit<ListQuery, 'cursor' | 'limit'> & {
  /** Documents per page. Default: 500. */
  readonly page_size?: number
}

/**
 * Loads each page when the previous one is used up. A document that changes meanwhile may be missed or returned
 * twice.
 */
export async function* iterateDocuments<T extends StoredFields>(
  store: Pick<ScopedStore<T>, 'list'>,
  { page_size = 500, ...query }: DocumentQuery,
): AsyncGenerator<Doc<T>, undefined> {
  let cursor: string | undefined
  do {
    const page = await store.list({ ...query, limit: page_size, ...(cursor === undefined ? {} : { cursor }) })
    yield* page.docs
    cursor = page.next_cursor
  } while (cursor !== undefined)
}
