// Everything that a polled source must keep, as data: each adapter is run against all of it.
import { expect } from 'vitest'
import { isRefused } from '../../daemon/kernel/errors.ts'
import type { News, PolledSource } from '../../daemon/kernel/polled.ts'

export type PolledWorld = {
  /** A new adapter each time, as after a restart: it remembers nothing. */
  source(): PolledSource
  /** The source has one more item. */
  add(item: Readonly<Record<string, unknown>>): Promise<void>
  /** The source has something that cannot be read. */
  addGarbage(): Promise<void>
  /** The source cannot be reached, or can be again. */
  setReachable(isReachable: boolean): Promise<void>
}

type Requirement = { readonly id: string; readonly says: string; readonly holds: (world: PolledWorld) => Promise<void> }

const requirement = (id: string, says: string, holds: Requirement['holds']): Requirement => ({
  id: `polled/${id}`,
  says,
  holds,
})

const open = new AbortController().signal
const never: ReadonlyMap<number, []> = new Map()

export async function newsOf(source: PolledSource, cursor?: string, signal = open): Promise<News> {
  const news = await source.poll(cursor, signal)
  if (isRefused(news)) throw news
  return news
}

const itemsIn = (news: News) =>
  news.sets.flatMap(({ documents }) => documents).flatMap((document) => (isRefused(document) ? [] : list(document)))

function list(document: unknown): unknown[] {
  const { items } = document as { items?: unknown[] }
  return items ?? [document]
}

/** Takes everything that there is, from the cursor on, as the role does; what was taken, and where to go on. */
async function all(world: PolledWorld, cursor?: string): Promise<{ items: unknown[]; cursor: string | undefined }> {
  const items: unknown[] = []
  let at = cursor
  for (let round = 0; round < 20; round++) {
    const news = await newsOf(world.source(), at)
    items.push(...itemsIn(news))
    await news.settle(never)
    at = news.cursor
    if (!news.has_more) return { items, cursor: at }
  }
  throw new Error('the source never ends')
}

export const polledRequirements: readonly Requirement[] = [
  requirement('nothing', 'where there is nothing there are no items', async (world) => {
    expect(itemsIn(await newsOf(world.source()))).toEqual([])
  }),

  requirement('each', 'each item comes, as it was said', async (world) => {
    const said = [
      { id: '1', text: 'Žofie „1“' },
      { id: '2', nested: { list: [1, null] } },
    ]
    for (const item of said) await world.add(item)
    expect((await all(world)).items).toEqual(said)
  }),

  requirement('once', 'what was settled does not come again; what is added then does', async (world) => {
    await world.add({ id: '1' })
    const { cursor } = await all(world)
    const again = await all(world, cursor)
    expect(again.items).toEqual([])
    await world.add({ id: '2' })
    expect((await all(world, again.cursor)).items).toContainEqual({ id: '2' })
  }),

  requirement(
    'unsettled',
    'what was not settled comes again under the same name, after a restart, too',
    async (world) => {
      await world.add({ id: '1' })
      const first = await newsOf(world.source())
      const second = await newsOf(world.source())
      expect(itemsIn(second)).toEqual(itemsIn(first))
      expect(second.sets.map(({ known }) => known)).toEqual(first.sets.map(({ known }) => known))
      expect(first.sets[0]?.known).not.toBe('')
    },
  ),

  requirement('garbage', 'what cannot be read is said to be so, and is no item', async (world) => {
    await world.addGarbage()
    const { sets } = await newsOf(world.source())
    expect(sets.flatMap(({ documents }) => documents).some((document) => isRefused(document))).toBe(true)
  }),

  requirement(
    'unreachable',
    'a source that cannot be reached is refused as one for later, then gives all',
    async (world) => {
      await world.add({ id: '1' })
      await world.setReachable(false)
      const refused = await world.source().poll(undefined, open)
      expect(isRefused(refused) && [refused.code, refused.row.retryable]).toEqual(['unavailable', true])
      await world.setReachable(true)
      expect((await all(world)).items).toEqual([{ id: '1' }])
    },
  ),

  requirement('aborted', 'it ends with the signal, and nothing is lost by that', async (world) => {
    await world.add({ id: '1' })
    const ended = new AbortController()
    ended.abort()
    const refused = await world.source().poll(undefined, ended.signal)
    if (!isRefused(refused)) expect(itemsIn(refused)).toEqual([])
    expect((await all(world)).items).toEqual([{ id: '1' }])
  }),

  requirement('cursor', 'a cursor is short text, and one that is damaged loses nothing', async (world) => {
    await world.add({ id: '1' })
    const { cursor } = await all(world)
    expect(cursor === undefined || cursor.length <= 4_096).toBe(true)
    await world.add({ id: '2' })
    expect((await all(world, '{"since":7,"etag":[')).items).toContainEqual({ id: '2' })
  }),
]
