// Everything that the carriers' journal must keep, as data: each adapter is run against all of it.
import { expect } from 'vitest'
import type { Journal } from '../../daemon/kernel/messaging/journal.ts'
import { buildArrival, buildSealedMessage, hexDigest, inChannel, outChannel, sampleEvent } from './journal-samples.ts'

export type JournalFixture = {
  readonly journal: Journal
  /** The same journal reopened from its durable state. */
  reopen(): Promise<JournalFixture>
  /** Events that steps of the journal have put in the audit chain. */
  countAuditRecords(): Promise<number>
}

export type JournalRequirement = {
  readonly id: string
  readonly description: string
  readonly verify: (world: JournalFixture) => Promise<void>
}

export const journalRequirement = (
  id: string,
  description: string,
  verify: (world: JournalFixture) => Promise<void>,
): JournalRequirement => ({
  id,
  description,
  verify,
})

export const journalRequirements: readonly JournalRequirement[] = [
  journalRequirement(
    'journal/introduce',
    'a channel is introduced once, and keeps its state',
    async ({ journal, reopen }) => {
      expect(await journal.registerChannel(outChannel)).toMatchObject({
        ...outChannel,
        state: 'enrolling',
        sent: 0,
        inventory: 0,
      })
      await journal.setState(outChannel.channel, 'frozen', 'a reason')
      const again = (await reopen()).journal
      expect(await again.registerChannel(outChannel)).toMatchObject({ state: 'frozen', detail: 'a reason' })
      expect(await again.channels()).toHaveLength(1)
    },
  ),

  journalRequirement(
    'journal/append',
    'messages continue the head without a gap, or nothing is written',
    async (world) => {
      const { journal } = world
      await journal.registerChannel(outChannel)
      expect(await journal.head(outChannel.channel)).toEqual({ epoch: 1, seq: 0, digest: undefined })
      expect(await journal.append(outChannel.channel, [buildSealedMessage(2)])).toBe('behind')
      expect(await journal.append(outChannel.channel, [buildSealedMessage(1), buildSealedMessage(3)])).toBe('behind')
      expect(await journal.append(outChannel.channel, [buildSealedMessage(1, { epoch: 2 })])).toBe('behind')
      expect(await journal.append(outChannel.channel, [buildSealedMessage(1), buildSealedMessage(2)])).toBe('appended')
      expect(await journal.append(outChannel.channel, [buildSealedMessage(2, { event_id: 'other' })])).toBe('behind')
      const { journal: again } = await world.reopen()
      expect(await again.head(outChannel.channel)).toEqual({ epoch: 1, seq: 2, digest: hexDigest(2) })
      expect(await again.outbox(outChannel.channel, 'SPOOLED', 9)).toEqual([
        buildSealedMessage(1),
        buildSealedMessage(2),
      ])
      expect((await again.channels())[0]?.sent).toBe(2)
    },
  ),

  journalRequirement('journal/event', 'an event id is used once per channel', async ({ journal }) => {
    await journal.registerChannel(outChannel)
    await journal.append(outChannel.channel, [buildSealedMessage(1)])
    const { envelope: _, body: __, ...known } = buildSealedMessage(1)
    expect(await journal.findSent(outChannel.channel, 'event-1')).toEqual(known)
    expect(await journal.findSent(outChannel.channel, 'event-2')).toBeUndefined()
    await expect(journal.append(outChannel.channel, [buildSealedMessage(2, { event_id: 'event-1' })])).rejects.toThrow()
    expect(await journal.head(outChannel.channel)).toMatchObject({ seq: 1 })
  }),

  journalRequirement('journal/backlog', 'counts waiting messages, since the first of them', async ({ journal }) => {
    await journal.registerChannel(outChannel)
    await journal.registerChannel(inChannel)
    expect(await journal.backlog(outChannel.channel)).toEqual({ spooled: 0, published: 0 })
    await journal.append(outChannel.channel, [
      buildSealedMessage(1),
      buildSealedMessage(2),
      buildSealedMessage(3),
      buildSealedMessage(4),
    ])
    await journal.mark(outChannel.channel, [buildSealedMessage(1), buildSealedMessage(2)], 'PUBLISHED', 2_000)
    expect(await journal.backlog(outChannel.channel)).toEqual({ spooled: 2, published: 2, oldest: 1_001 })
    await journal.mark(outChannel.channel, [buildSealedMessage(1), buildSealedMessage(2)], 'PICKED_UP', 2_000)
    expect(await journal.backlog(outChannel.channel)).toEqual({ spooled: 2, published: 0, oldest: 1_003 })
    expect(await journal.backlog(inChannel.channel)).toEqual({ spooled: 0, published: 0 })
    await journal.noteIncomplete(inChannel.channel, ['b'], 400)
    await journal.noteIncomplete(inChannel.channel, ['a', 'b'], 500)
    expect(await journal.backlog(inChannel.channel)).toEqual({ spooled: 0, published: 0, oldest: 400 })
  }),

  journalRequirement(
    'journal/states',
    'a message moves forward only, and loses its bytes at the end',
    async ({ journal }) => {
      await journal.registerChannel(outChannel)
      await journal.append(outChannel.channel, [buildSealedMessage(1), buildSealedMessage(2), buildSealedMessage(3)])
      await journal.mark(outChannel.channel, [buildSealedMessage(1), buildSealedMessage(2)], 'PUBLISHED', 2_000)
      await journal.mark(outChannel.channel, [buildSealedMessage(1)], 'PICKED_UP', 2_000)
      await journal.mark(outChannel.channel, [buildSealedMessage(1)], 'SPOOLED', 2_000)
      expect(await journal.numbers(outChannel.channel, 'PICKED_UP')).toEqual([{ epoch: 1, seq: 1 }])
      expect(await journal.outbox(outChannel.channel, 'PUBLISHED', 9)).toEqual([buildSealedMessage(2)])
      expect(await journal.outbox(outChannel.channel, 'SPOOLED', 9)).toEqual([buildSealedMessage(3)])
      expect(await journal.get(outChannel.channel, 1, 1)).toBeUndefined()
      expect(await journal.get(outChannel.channel, 1, 2)).toEqual(buildSealedMessage(2))
      expect(await journal.findSent(outChannel.channel, 'event-1')).toMatchObject({ seq: 1 })
    },
  ),

  journalRequirement('journal/receive', 'the first arrival under a number stays, and is returned', async (world) => {
    const { journal } = world
    await journal.registerChannel(inChannel)
    const [first] = await journal.receive(inChannel.channel, [buildArrival(1)])
    expect(first).toEqual({ ...buildArrival(1), state: 'received', code: '' })
    expect(await journal.receive(inChannel.channel, [buildArrival(1, { digest: hexDigest(99), at: 9_000 })])).toEqual([
      first,
    ])
    const { journal: again } = await world.reopen()
    expect(await again.entry(inChannel.channel, 1, 1)).toEqual(first)
    expect(await again.entry(inChannel.channel, 2, 1)).toBeUndefined()
    expect(await again.entry(outChannel.channel, 1, 1)).toBeUndefined()
  }),

  journalRequirement(
    'journal/settle',
    'a number is settled once, with its audit events in the same step',
    async (world) => {
      const { journal } = world
      await journal.registerChannel(inChannel)
      await journal.recordOutcomes(inChannel.channel, [
        { epoch: 1, seq: 1, state: 'applied', code: '', audit: [sampleEvent] },
      ])
      expect(await world.countAuditRecords()).toBe(0)
      await journal.receive(inChannel.channel, [buildArrival(1)])
      await journal.recordOutcomes(inChannel.channel, [
        { epoch: 1, seq: 1, state: 'applied', code: '', audit: [sampleEvent] },
      ])
      await journal.recordOutcomes(inChannel.channel, [
        { epoch: 1, seq: 1, state: 'refused', code: 'x', audit: [sampleEvent] },
      ])
      expect(await world.countAuditRecords()).toBe(1)
      expect(await journal.entry(inChannel.channel, 1, 1)).toMatchObject({ state: 'applied', code: '' })
      expect((await journal.channels())[0]).toMatchObject({ received: 1, duplicates: 0 })
      await journal.countDuplicates(inChannel.channel, 2)
      expect((await journal.channels())[0]).toMatchObject({ received: 1, duplicates: 2 })
    },
  ),

  journalRequirement(
    'journal/progress',
    'floor, highest and gaps are right in any order of arrival',
    async ({ journal }) => {
      await journal.registerChannel(inChannel)
      const seen = new Set<number>()
      for (const seq of [4, 2, 9, 1, 8, 3, 3, 12, 7, 5]) {
        await journal.receive(inChannel.channel, [buildArrival(seq)])
        seen.add(seq)
        const highest = Math.max(...seen)
        let floor = 0
        while (seen.has(floor + 1)) floor += 1
        const arrived = seen.size - floor
        expect(await journal.progress(inChannel.channel, 1)).toEqual({ floor, highest, arrived })
      }
      expect(await journal.gaps(inChannel.channel, 1, 9)).toEqual([
        { first: 6, last: 6 },
        { first: 10, last: 11 },
      ])
      expect(await journal.gaps(inChannel.channel, 1, 1)).toEqual([{ first: 6, last: 6 }])
      expect(await journal.progress(inChannel.channel, 2)).toEqual({ floor: 0, highest: 0, arrived: 0 })
    },
  ),

  journalRequirement(
    'journal/attempts',
    'attempts are counted across restarts, until forgiven or settled',
    async (world) => {
      const { journal } = world
      expect(await journal.countFailure(inChannel.channel, 1, 1)).toBe(1)
      const { journal: again } = await world.reopen()
      expect(await again.countFailure(inChannel.channel, 1, 1)).toBe(2)
      expect(await again.countFailure(inChannel.channel, 1, 2)).toBe(1)
      await again.clearFailures(inChannel.channel, 1, 1)
      expect(await again.countFailure(inChannel.channel, 1, 1)).toBe(1)
      await again.recordOutcomes(inChannel.channel, [{ epoch: 1, seq: 1, state: 'quarantined', code: 'POISON' }])
      expect(await again.countFailure(inChannel.channel, 1, 1)).toBe(1)
    },
  ),

  journalRequirement(
    'journal/waiting',
    'each name waits since it was first seen; one that is gone is forgotten',
    async (world) => {
      const { journal } = world
      expect(await journal.noteIncomplete(inChannel.channel, ['a', 'b'], 100)).toEqual(
        new Map([
          ['a', 100],
          ['b', 100],
        ]),
      )
      const { journal: again } = await world.reopen()
      expect(await again.noteIncomplete(inChannel.channel, ['a', 'c'], 200)).toEqual(
        new Map([
          ['a', 100],
          ['c', 200],
        ]),
      )
      expect(await again.noteIncomplete(inChannel.channel, ['b'], 300)).toEqual(new Map([['b', 300]]))
      expect(await again.noteIncomplete(outChannel.channel, ['b'], 400)).toEqual(new Map([['b', 400]]))
    },
  ),

  journalRequirement('journal/waiting-stretch', 'outside the stretch nothing is forgotten', async ({ journal }) => {
    await journal.noteIncomplete(inChannel.channel, ['a', 'b', 'c', 'd', '\u00ff'], 100)
    expect(await journal.noteIncomplete(inChannel.channel, ['c'], 200, { after: 'a', upto: 'c' })).toEqual(
      new Map([['c', 100]]),
    )
    expect(await journal.noteIncomplete(inChannel.channel, [], 200, { after: 'd' })).toEqual(new Map())
    expect(await journal.noteIncomplete(inChannel.channel, ['a', 'b', 'c', 'd', '\u00ff'], 300)).toEqual(
      new Map(Object.entries({ a: 100, b: 300, c: 100, d: 100, '\u00ff': 300 })),
    )
  }),
]
