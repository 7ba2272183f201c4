// Lists of several roles as one: order, pages without a gap, totals.
import { expect, test } from 'vitest'
import type { ApiObject } from './client.ts'
import { fetchMergedItems } from './fetch-merged.ts'

/** Items newest first; the cursor is the number of items before. */
const itemsOf: Readonly<Record<string, readonly string[]>> = {
  site: ['09', '07', '06', '01'],
  consensus: ['08', '05', '04', '03', '02'],
  hub: [],
}

async function call(address: string, { limit, cursor }: ApiObject): Promise<ApiObject> {
  const all = itemsOf[address] ?? []
  const [from, size] = [Number(cursor ?? 0), Number(limit)]
  const items = all.slice(from, from + size).map((at, index) => ({ seq: all.length - from - index, at }))
  const next = from + size < all.length ? { next_cursor: String(from + size) } : {}
  return { items, total: all.length, total_is: 'exact', ...next }
}

const list = (limit: number, cursor?: string) =>
  fetchMergedItems(
    { call },
    {
      ...{ roles: Object.keys(itemsOf), addressOf: (role) => role, input: {} },
      timeOf: ({ at }) => (at === '06' ? undefined : String(at)),
    },
    { limit, cursor },
  )

test('the newest of all roles comes first, with its role, and the total is that of all', async () => {
  const page = await list(3)
  expect(page.items.map(({ role, at }) => [role, at])).toEqual([
    ['site', '09'],
    ['consensus', '08'],
    ['site', '07'],
  ])
  expect([page.total, page.total_is]).toEqual([9, 'exact'])
})

test.each([1, 2, 4, 100])('pages of %i leave nothing out and repeat nothing', async (limit) => {
  const seen: ApiObject[] = []
  let cursor: string | undefined
  do {
    const page = await list(limit, cursor)
    seen.push(...page.items)
    cursor = page.next_cursor
  } while (cursor !== undefined)
  for (const [role, times] of Object.entries(itemsOf))
    expect(seen.filter((item) => item.role === role).map(({ at }) => at)).toEqual(times)
  expect(seen).toHaveLength(9)
})

test('an item without a time stays in its place within its role', async () => {
  const { items } = await list(9)
  const dated = items.map(({ at }) => at).filter((at) => at !== '06')
  expect(dated).toEqual(dated.toSorted().reverse())
})

test('a cursor of another list is refused', async () => {
  await expect(list(1, 'x')).rejects.toThrow('not one of this list')
})
