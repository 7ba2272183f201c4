// Items of a list across the pages of a service: at most the limit, then where the rest begins.
import { expect, test } from 'vitest'
import type { ApiObject } from './client.ts'
import { fetchAllItems, fetchItems } from './fetch-items.ts'

/** A service with 1,234 items, in pages of at most 500, whose cursors are positions. */
const client = {
  async call(_address: string, { limit, cursor }: ApiObject) {
    const from = Number(cursor ?? 0)
    const to = Math.min(from + Number(limit), 1_234)
    const items = Array.from({ length: to - from }, (_, at) => ({ n: from + at }))
    return { items, total: 1_234, total_is: 'exact', ...(to < 1_234 ? { next_cursor: String(to) } : {}) }
  },
}

test('a limit beyond one page ends exactly there, and the cursor continues', async () => {
  const first = await fetchItems(client, 'any.list', {}, { limit: 700 })
  expect([first.items.length, first.total, first.next_cursor]).toEqual([700, 1_234, '700'])
  const rest = await fetchItems(client, 'any.list', {}, { limit: 700, cursor: first.next_cursor })
  expect([rest.items.at(0), rest.items.length, rest.next_cursor]).toEqual([{ n: 700 }, 534, undefined])
})

test('all items are all pages', async () => {
  expect(await fetchAllItems(client, 'any.list', {})).toHaveLength(1_234)
})
