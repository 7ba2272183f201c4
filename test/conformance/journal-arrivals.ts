// Requirements on a journal's incoming channels beyond single arrivals, as data: epochs, losses, inventories, disputes.
import { expect } from 'vitest'
import { type JournalRequirement, journalRequirement } from './journal.ts'
import { buildArrival, hexDigest, inChannel, sampleEvent } from './journal-samples.ts'

export const arrivalRequirements: readonly JournalRequirement[] = [
  journalRequirement(
    'journal/advance',
    'a later epoch of an incoming channel opens once, with its audit events',
    async (world) => {
      const { journal } = world
      await journal.registerChannel(inChannel)
      await journal.advance(inChannel.channel, 3, [sampleEvent])
      await journal.advance(inChannel.channel, 3, [sampleEvent])
      await journal.advance(inChannel.channel, 2, [sampleEvent])
      const again = await world.reopen()
      expect((await again.journal.channels())[0]).toMatchObject({ epoch: 3 })
      expect(await again.countAuditRecords()).toBe(1)
    },
  ),

  journalRequirement(
    'journal/lost',
    'a lost message is missing until the same statement comes again',
    async (world) => {
      const { journal } = world
      await journal.registerChannel(inChannel)
      await journal.receive(
        inChannel.channel,
        [1, 2, 3, 4, 5].map((seq) => buildArrival(seq)),
      )
      await journal.recordOutcomes(inChannel.channel, [{ epoch: 1, seq: 1, state: 'applied', code: '' }])
      expect(await journal.unfinished(inChannel.channel)).toEqual(
        [2, 3, 4, 5].map((seq) => ({ ...buildArrival(seq), state: 'received', code: '' })),
      )
      await journal.markLost(
        inChannel.channel,
        [1, 3, 5].map((seq) => ({ epoch: 1, seq })),
        [sampleEvent],
      )
      await journal.markLost(inChannel.channel, [{ epoch: 1, seq: 3 }], [sampleEvent])
      const again = await world.reopen()
      expect(await again.countAuditRecords()).toBe(1)
      expect(await again.journal.entry(inChannel.channel, 1, 3)).toEqual({
        ...buildArrival(3),
        state: 'lost',
        code: '',
      })
      expect(await again.journal.progress(inChannel.channel, 1)).toEqual({ floor: 2, highest: 5, arrived: 1 })
      expect(await again.journal.gaps(inChannel.channel, 1, 9)).toEqual([
        { first: 3, last: 3 },
        { first: 5, last: 5 },
      ])
      expect(await again.journal.gaps(inChannel.channel, 1, 1)).toHaveLength(1)
      // A number that is lost does not end, and another statement does not take its place.
      await again.journal.recordOutcomes(inChannel.channel, [{ epoch: 1, seq: 3, state: 'applied', code: '' }])
      await again.journal.receive(inChannel.channel, [buildArrival(3, { digest: hexDigest(99) })])
      expect(await again.journal.progress(inChannel.channel, 1)).toMatchObject({ floor: 2 })
      const [back] = await again.journal.receive(inChannel.channel, [buildArrival(3, { at: 9_000 })])
      expect(back).toEqual({ ...buildArrival(3), state: 'received', code: '' })
      expect(await again.journal.progress(inChannel.channel, 1)).toEqual({ floor: 4, highest: 5, arrived: 0 })
      await again.journal.receive(inChannel.channel, [buildArrival(6), buildArrival(5)])
      expect(await again.journal.progress(inChannel.channel, 1)).toEqual({ floor: 6, highest: 6, arrived: 0 })
    },
  ),

  journalRequirement(
    'journal/inventories',
    'the newest inventory of the channel’s epoch is remembered',
    async (world) => {
      const { journal } = world
      await journal.registerChannel(inChannel)
      const last = async () => (await journal.channels())[0]
      await journal.noteInventory(inChannel.channel, { epoch: 1, seq: 4 }, 700)
      await journal.noteInventory(inChannel.channel, { epoch: 1, seq: 3 }, 800)
      await journal.noteInventory(inChannel.channel, { epoch: 2, seq: 9 }, 900)
      expect(await last()).toMatchObject({ inventory: 4, inventory_at: 700 })
      await journal.advance(inChannel.channel, 2, [])
      await journal.noteInventory(inChannel.channel, { epoch: 1, seq: 5 }, 900)
      expect(await last()).toMatchObject({ inventory: 0, inventory_at: 700 })
      await journal.noteInventory(inChannel.channel, { epoch: 2, seq: 2 }, 950)
      expect(await last()).toMatchObject({ inventory: 2, inventory_at: 950 })
    },
  ),

  journalRequirement(
    'journal/dispute',
    'a channel freezes over each number once, with its audit events',
    async (world) => {
      const { journal } = world
      await journal.registerChannel(inChannel)
      const numbers = [buildArrival(1), buildArrival(2)]
      expect(await journal.dispute(inChannel.channel, 'two of one', numbers, [sampleEvent])).toBe('frozen')
      expect((await journal.channels())[0]).toMatchObject({ state: 'frozen', detail: 'two of one' })
      await journal.setState(inChannel.channel, 'open', '')
      const again = await world.reopen()
      expect(await again.journal.dispute(inChannel.channel, 'again', [buildArrival(2)], [sampleEvent])).toBe('known')
      expect((await again.journal.channels())[0]).toMatchObject({ state: 'open' })
      expect(
        await again.journal.dispute(inChannel.channel, 'more', [buildArrival(2), buildArrival(3)], [sampleEvent]),
      ).toBe('frozen')
      expect(await again.countAuditRecords()).toBe(2)
    },
  ),
]
