// Everything that a polled source must keep, as data: each adapter is run against all of it.
import { expect } from 'vitest'
import { isRefusal } from '../../daemon/kernel/error/errors.ts'
import type { PolledSource, PollResult } from '../../daemon/shared/polled-source/polled-source.ts'

export type PolledSourceFixture = {
  /** A new adapter each time, as after a restart: it remembers nothing. */
  source(): PolledSource
  /** The source has one more item. */
  add(item: Readonly<Record<string, unknown>>): Promise<void>
  /** The source has something that cannot be read. */
  addGarbage(): Promise<void>
  /** The source cannot be reached, or can be again. */
  setReachable(isReachable: boolean): Promise<void>
}

type PolledRequirement = {
  readonly id: string
  readonly description: string
  readonly verify: (world: PolledSourceFixture) => Promise<void>
}

const requirement = (id: string, says: string, holds: PolledRequirement['verify']): PolledRequirement => ({
  id: `polled/${id}`,
  description: says,
  verify: holds,
})

const open = new AbortController().signal
const never: ReadonlyMap<number, []> = new Map()

export async function pollSource(source: PolledSource, cursor?: string, signal = open): Promise<PollResult> {
  const news = await source.poll(cursor, signal)
  if (isRefusal(news)) throw news
  return news
}

const listItems = (news: PollResult) =>
  news.sets
    .flatMap(({ documents }) => documents)
    .flatMap((document) => (isRefusal(document) ? [] : parseItems(document)))

function parseItems(document: unknown): unknown[] {
  const { items } = document as { items?: unknown[] }
  return items ?? [document]
}

/** Takes everything that there is, from the cursor on, as the role does; what was taken, and where to go on. */
async function pollAll(
  world: PolledSourceFixture,
  cursor?: string,
): Promise<{ items: unknown[]; cursor: string | undefined }> {
  const items: unknown[] = []
  let at = cursor
  for (let round = 0; round < 20; round++) {
    const news = await pollSource(world.source(), at)
    items.push(...listItems(news))
    await news.acknowledge(never)
    at = news.cursor
    if (!news.has_more) return { items, cursor: at }
  }
  throw new Error('the source never ends')
}

export const polledRequirements: readonly PolledRequirement[] = [
  requirement('nothing', 'an empty place has no items', async (world) => {
    expect(listItems(await pollSource(world.source()))).toEqual([])
  }),

  requirement('each', 'each item arrives, unchanged', async (world) => {
    const reports = [
      { id: '1', text: 'Žofie „1“' },
      { id: '2', nested: { list: [1, null] } },
    ]
    for (const item of reports) await world.add(item)
    expect((await pollAll(world)).items).toEqual(reports)
  }),

  requirement('once', 'a settled item does not arrive again; one added then does', async (world) => {
    await world.add({ id: '1' })
    const { cursor } = await pollAll(world)
    const again = await pollAll(world, cursor)
    expect(again.items).toEqual([])
    await world.add({ id: '2' })
    expect((await pollAll(world, again.cursor)).items).toContainEqual({ id: '2' })
  }),

  requirement('unsettled', 'an unsettled item comes again under the same name, after a restart, too', async (world) => {
    await world.add({ id: '1' })
    const first = await pollSource(world.source())
    const second = await pollSource(world.source())
    expect(listItems(second)).toEqual(listItems(first))
    expect(second.sets.map(({ set_id }) => set_id)).toEqual(first.sets.map(({ set_id }) => set_id))
    expect(first.sets[0]?.set_id).not.toBe('')
  }),

  requirement('garbage', 'reports an unreadable entry, which is not an item', async (world) => {
    await world.addGarbage()
    const { sets } = await pollSource(world.source())
    expect(sets.flatMap(({ documents }) => documents).some((document) => isRefusal(document))).toBe(true)
  }),

  requirement(
    'unreachable',
    'a source that cannot be reached is refused as one for later, then gives all',
    async (world) => {
      await world.add({ id: '1' })
      await world.setReachable(false)
      const refused = await world.source().poll(undefined, open)
      expect(isRefusal(refused) && [refused.code, refused.row.retryable]).toEqual(['unavailable', true])
      await world.setReachable(true)
      expect((await pollAll(world)).items).toEqual([{ id: '1' }])
    },
  ),

  requirement('aborted', 'it ends with the signal, and nothing is lost by that', async (world) => {
    await world.add({ id: '1' })
    const ended = new AbortController()
    ended.abort()
    const refused = await world.source().poll(undefined, ended.signal)
    if (!isRefusal(refused)) expect(listItems(refused)).toEqual([])
    expect((await pollAll(world)).items).toEqual([{ id: '1' }])
  }),

  requirement('cursor', 'a cursor is short text, and one that is damaged loses nothing', async (world) => {
    await world.add({ id: '1' })
    const { cursor } = await pollAll(world)
    expect(cursor === undefined || cursor.length <= 4_096).toBe(true)
    await world.add({ id: '2' })
    expect((await pollAll(world, '{"since":7,"etag":[')).items).toContainEqual({ id: '2' })
  }),
]
