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
    'journal/set-aside',
    'a message set aside counts as arrived, once with its audit events, until it ends or is lost',
    async (world) => {
      const { journal } = world
      await journal.registerChannel(inChannel)
      const { channel } = inChannel
      await journal.receive(
        channel,
        [1, 2, 3].map((seq) => buildArrival(seq)),
      )
      const record = (seq: number) => ({ epoch: 1, seq, role: 'r', bytes: 7, audit: [sampleEvent] })
      for (let i = 0; i < 2; i++) await journal.recordSetAside(channel, [record(2), record(3)])
      await journal.recordOutcomes(channel, [{ epoch: 1, seq: 1, state: 'applied', code: '' }])
      await journal.recordSetAside(channel, [record(1)])
      const again = await world.reopen()
      const aside = (seq: number) => ({ ...buildArrival(seq), state: 'set_aside', code: '', role: 'r', bytes: 7 })
      expect(await again.journal.setAside(channel)).toEqual([aside(2), aside(3)])
      expect(await again.journal.unfinished(channel)).toEqual([])
      expect(await again.journal.progress(channel, 1)).toEqual({ floor: 3, highest: 3, arrived: 0 })
      expect(await again.countAuditRecords()).toBe(2)
      await again.journal.markLost(channel, [{ epoch: 1, seq: 2 }], [])
      await again.journal.recordOutcomes(channel, [{ epoch: 1, seq: 3, state: 'applied', code: '' }])
      expect(await again.journal.setAside(channel)).toEqual([])
      expect(await again.journal.gaps(channel, 1, 9)).toEqual([{ first: 2, last: 2 }])
    },
  ),

  journalRequirement(
    'journal/skip',
    'a missing number is given up once, with its audit events, and is replaced by a late arrival',
    async (world) => {
      const { journal } = world
      await journal.registerChannel(inChannel)
      const { channel } = inChannel
      await journal.receive(
        channel,
        [3, 5].map((seq) => buildArrival(seq)),
      )
      await journal.markLost(channel, [{ epoch: 1, seq: 5 }], [])
      const numbers = [1, 2, 3, 5, 6].map((seq) => ({ epoch: 1, seq }))
      expect(await journal.skip(channel, numbers, 7, [sampleEvent])).toBe(3)
      expect(await journal.skip(channel, numbers, 8, [sampleEvent])).toBe(0)
      const again = await world.reopen()
      expect(await again.countAuditRecords()).toBe(1)
      expect(await again.journal.progress(channel, 1)).toEqual({ floor: 3, highest: 5, arrived: 1 })
      expect(await again.journal.entry(channel, 1, 2)).toBeUndefined()
      expect(await again.journal.skipped(channel, numbers)).toEqual([1, 2, 5].map((seq) => ({ epoch: 1, seq })))
      await again.journal.receive(channel, [buildArrival(2), buildArrival(4)])
      expect(await again.journal.entry(channel, 1, 2)).toMatchObject({ state: 'received', digest: hexDigest(2) })
      expect(await again.journal.progress(channel, 1)).toEqual({ floor: 5, highest: 5, arrived: 0 })
      expect(await again.journal.skipped(channel, numbers)).toEqual([1, 5].map((seq) => ({ epoch: 1, seq })))
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
      await journal.forgetInventory(inChannel.channel)
      expect(await last()).toMatchObject({ inventory: 0, inventory_at: 950 })
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
