// Lists of a service: some of the items and where the rest begins, or all of them.
import type { DocumentTotal } from '../../daemon/kernel/store/store.ts'
import type { ApiObject, ServiceClient } from './client.ts'

/** Items of a list, from the cursor on. `next_cursor` is absent after the last item. */
export type ItemPage = DocumentTotal & { readonly items: readonly ApiObject[]; readonly next_cursor?: string }

export type ItemSelection = { readonly limit: number; readonly cursor?: string | undefined }

/** At most `limit` items, however many pages of the service these are; a page without items is the last. */
export async function fetchItems(
  client: Pick<ServiceClient, 'call'>,
  address: string,
  input: ApiObject,
  { limit, cursor: start }: ItemSelection,
): Promise<ItemPage> {
  const items: ApiObject[] = []
  let cursor = start
  for (;;) {
    const size = Math.min(500, limit - items.length)
    const page = (await client.call(address, { ...input, limit: size, cursor })) as ItemPage
    items.push(...page.items)
    cursor = page.next_cursor
    if (cursor === undefined || items.length >= limit || page.items.length === 0) return { ...page, items }
  }
}

export async function fetchAllItems(
  client: Pick<ServiceClient, 'call'>,
  address: string,
  input: ApiObject,
): Promise<readonly ApiObject[]> {
  return (await fetchItems(client, address, input, { limit: Number.POSITIVE_INFINITY })).items
}
