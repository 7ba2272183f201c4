// One list of the items of several roles, newest first; each role keeps the order in which its service lists them.
import * as z from 'zod'
import { parseJsonAs } from '../../daemon/kernel/encoding/parse-json.ts'
import { refuse } from '../../daemon/kernel/error/errors.ts'
import type { ApiObject, ServiceClient } from './client.ts'
import { fetchItems, type ItemPage, type ItemSelection } from './fetch-items.ts'

/** By role, the cursor of its service from which it continues; null at its first item. Roles that are at their end are absent. */
const mergedCursor = z.record(z.string(), z.string().nullable())
type MergedCursor = z.infer<typeof mergedCursor>

type RolePage = { readonly role: string; readonly start: string | null; readonly page: ItemPage; taken: number }

type MergedList = {
  readonly roles: readonly string[]
  readonly addressOf: (role: string) => string
  readonly input: ApiObject
  /** The time by which items of different roles are compared, RFC 3339; undefined for the time of its successor. */
  readonly timeOf: (item: ApiObject) => string | undefined
}

/** At most `limit` items, each with its `role`. Throws the refusal `invalid` for a cursor of another list. */
export async function fetchMergedItems(
  client: Pick<ServiceClient, 'call'>,
  { roles, addressOf, input, timeOf }: MergedList,
  { limit, cursor }: ItemSelection,
): Promise<ItemPage> {
  const starts = cursor === undefined ? Object.fromEntries(roles.map((role) => [role, null])) : parseCursor(cursor)
  const fetchPage = (role: string, start: string | null, size: number) =>
    fetchItems(client, addressOf(role), input, { limit: size, cursor: start ?? undefined })
  const pages: RolePage[] = await Promise.all(
    Object.entries(starts).map(async ([role, start]) => ({
      ...{ role, start, page: await fetchPage(role, start, limit), taken: 0 },
    })),
  )
  const items = takeNewest(pages, limit, timeOf)
  const next = await Promise.all(
    pages.map(async ({ role, start, page, taken }) => {
      if (taken === page.items.length) return [role, page.next_cursor] as const
      // The service names the position after its last item, so the items that were taken are requested again.
      return [role, taken === 0 ? start : (await fetchPage(role, start, taken)).next_cursor] as const
    }),
  )
  const remaining = next.filter((entry): entry is [string, string | null] => entry[1] !== undefined)
  return {
    items,
    total: pages.reduce((sum, { page }) => sum + page.total, 0),
    total_is: pages.every(({ page }) => page.total_is === 'exact') && cursor === undefined ? 'exact' : 'at_least',
    ...(remaining.length > 0 ? { next_cursor: formatCursor(Object.fromEntries(remaining)) } : {}),
  }
}

function takeNewest(pages: readonly RolePage[], limit: number, timeOf: MergedList['timeOf']): ApiObject[] {
  const items: ApiObject[] = []
  const headTime = ({ page, taken }: RolePage) => {
    const dated = page.items.slice(taken).find((item) => timeOf(item) !== undefined)
    return (dated && timeOf(dated)) ?? ''
  }
  while (items.length < limit) {
    const open = pages.filter(({ page, taken }) => taken < page.items.length)
    const [first, ...others] = open
    if (!first) return items
    const newest = others.reduce((best, candidate) => (headTime(candidate) > headTime(best) ? candidate : best), first)
    items.push({ role: newest.role, ...newest.page.items[newest.taken] })
    newest.taken++
  }
  return items
}

function formatCursor(cursor: MergedCursor): string {
  return Buffer.from(JSON.stringify(cursor)).toString('base64url')
}

function parseCursor(text: string): MergedCursor {
  const cursor = parseJsonAs(mergedCursor, Buffer.from(text, 'base64url').toString('utf8'))
  if (!cursor) throw refuse('invalid', 'the cursor is not one of this list')
  return cursor
}
