// What the journal must keep of incoming channels beside single arrivals, as data: epochs, losses, inventories, disputes.
import { expect } from 'vitest'
import { arrival, event, hex, into, type JournalRequirement, requirement } from './journal.ts'

export const arrivalRequirements: readonly JournalRequirement[] = [
  requirement(
    'journal/advance',
    'a later epoch of an incoming channel opens once, with its audit events',
    async (world) => {
      const { journal } = world
      await journal.introduce(into)
      await journal.advance(into.channel, 3, [event])
      await journal.advance(into.channel, 3, [event])
      await journal.advance(into.channel, 2, [event])
      const again = await world.reopen()
      expect((await again.journal.channels())[0]).toMatchObject({ epoch: 3 })
      expect(await again.audited()).toBe(1)
    },
  ),

  requirement('journal/lost', 'what is lost is missing until the same statement comes again', async (world) => {
    const { journal } = world
    await journal.introduce(into)
    await journal.receive(
      into.channel,
      [1, 2, 3, 4, 5].map((seq) => arrival(seq)),
    )
    await journal.settle(into.channel, [{ epoch: 1, seq: 1, state: 'applied', code: '' }])
    expect(await journal.unfinished(into.channel)).toEqual([2, 3, 4, 5].map((seq) => ({ epoch: 1, seq })))
    await journal.lose(
      into.channel,
      [1, 3, 5].map((seq) => ({ epoch: 1, seq })),
      [event],
    )
    await journal.lose(into.channel, [{ epoch: 1, seq: 3 }], [event])
    const again = await world.reopen()
    expect(await again.audited()).toBe(1)
    expect(await again.journal.entry(into.channel, 1, 3)).toEqual({ ...arrival(3), state: 'lost', code: '' })
    expect(await again.journal.progress(into.channel, 1)).toEqual({ floor: 2, highest: 5, arrived: 1 })
    expect(await again.journal.gaps(into.channel, 1, 9)).toEqual([
      { first: 3, last: 3 },
      { first: 5, last: 5 },
    ])
    expect(await again.journal.gaps(into.channel, 1, 1)).toHaveLength(1)
    // A number that is lost does not end, and another statement does not take its place.
    await again.journal.settle(into.channel, [{ epoch: 1, seq: 3, state: 'applied', code: '' }])
    await again.journal.receive(into.channel, [arrival(3, { digest: hex(99) })])
    expect(await again.journal.progress(into.channel, 1)).toMatchObject({ floor: 2 })
    const [back] = await again.journal.receive(into.channel, [arrival(3, { at: 9_000 })])
    expect(back).toEqual({ ...arrival(3), state: 'received', code: '' })
    expect(await again.journal.progress(into.channel, 1)).toEqual({ floor: 4, highest: 5, arrived: 0 })
    await again.journal.receive(into.channel, [arrival(6), arrival(5)])
    expect(await again.journal.progress(into.channel, 1)).toEqual({ floor: 6, highest: 6, arrived: 0 })
  }),

  requirement('journal/inventories', 'the newest inventory of the channel’s epoch is remembered', async (world) => {
    const { journal } = world
    await journal.introduce(into)
    const last = async () => (await journal.channels())[0]
    await journal.noteInventory(into.channel, { epoch: 1, seq: 4 }, 700)
    await journal.noteInventory(into.channel, { epoch: 1, seq: 3 }, 800)
    await journal.noteInventory(into.channel, { epoch: 2, seq: 9 }, 900)
    expect(await last()).toMatchObject({ inventory: 4, inventory_at: 700 })
    await journal.advance(into.channel, 2, [])
    await journal.noteInventory(into.channel, { epoch: 1, seq: 5 }, 900)
    expect(await last()).toMatchObject({ inventory: 0, inventory_at: 700 })
    await journal.noteInventory(into.channel, { epoch: 2, seq: 2 }, 950)
    expect(await last()).toMatchObject({ inventory: 2, inventory_at: 950 })
  }),

  requirement('journal/dispute', 'a channel freezes over each number once, with its audit events', async (world) => {
    const { journal } = world
    await journal.introduce(into)
    const numbers = [arrival(1), arrival(2)]
    expect(await journal.dispute(into.channel, 'two of one', numbers, [event])).toBe('frozen')
    expect((await journal.channels())[0]).toMatchObject({ state: 'frozen', detail: 'two of one' })
    await journal.setState(into.channel, 'open', '')
    const again = await world.reopen()
    expect(await again.journal.dispute(into.channel, 'again', [arrival(2)], [event])).toBe('known')
    expect((await again.journal.channels())[0]).toMatchObject({ state: 'open' })
    expect(await again.journal.dispute(into.channel, 'more', [arrival(2), arrival(3)], [event])).toBe('frozen')
    expect(await again.audited()).toBe(2)
  }),
]
