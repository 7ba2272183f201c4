// Requirements on sent messages in the carriers' journal: evidence, epochs, and how long their files stay.
import { expect } from 'vitest'
import type { Journal } from '../../daemon/kernel/messaging/journal.ts'
import { type JournalRequirement, journalRequirement } from './journal.ts'
import { buildArrival, buildSealedMessage, inChannel, outChannel, sampleEvent } from './journal-samples.ts'

const listStates = async (journal: Journal, epoch = 1) =>
  (await journal.sentRun(outChannel.channel, epoch, 1, 99, 99)).map(({ state }) => state)

/** Numbers 1 to `count`, published, and taken by the carrier at `at`. */
async function publishAndTake(journal: Journal, count: number, at = 2_000) {
  await journal.registerChannel(outChannel)
  const messages = Array.from({ length: count }, (_, index) => buildSealedMessage(index + 1))
  await journal.append(outChannel.channel, messages)
  await journal.mark(outChannel.channel, messages, 'PUBLISHED', at)
  await journal.mark(outChannel.channel, messages, 'PICKED_UP', at)
}

export const sentRequirements: readonly JournalRequirement[] = [
  journalRequirement(
    'journal/sent-run',
    'lists a run of numbers as it stands, and no more of it',
    async ({ journal }) => {
      await publishAndTake(journal, 2)
      await journal.append(outChannel.channel, [buildSealedMessage(3)])
      const { epoch, kind } = buildSealedMessage(1)
      expect(await journal.sentRun(outChannel.channel, 1, 2, 9, 9)).toEqual([
        { epoch, seq: 2, kind, digest: buildSealedMessage(2).digest, state: 'PICKED_UP', taken: 2_000 },
        { epoch, seq: 3, kind, digest: buildSealedMessage(3).digest, state: 'SPOOLED' },
      ])
      expect(await journal.sentRun(outChannel.channel, 1, 1, 9, 1)).toHaveLength(1)
      expect(await journal.sentRun(outChannel.channel, 2, 1, 9, 9)).toEqual([])
      expect(await journal.sentRun(inChannel.channel, 1, 1, 9, 9)).toEqual([])
    },
  ),

  journalRequirement('journal/digests', 'the last digests of the epoch, lowest first', async ({ journal }) => {
    await publishAndTake(journal, 5)
    expect(await journal.digests(outChannel.channel, 3)).toEqual([3, 4, 5].map((seq) => buildSealedMessage(seq).digest))
    expect(await journal.digests(outChannel.channel, 9)).toHaveLength(5)
    await journal.openEpoch(
      outChannel.channel,
      buildSealedMessage(1, { epoch: 2, event_id: 'opening', digest: 'f'.repeat(96) }),
      [],
    )
    expect(await journal.digests(outChannel.channel, 9)).toEqual(['f'.repeat(96)])
  }),

  journalRequirement(
    'journal/assume',
    'a taken message is assumed when its time is over, no sooner',
    async ({ journal }) => {
      await publishAndTake(journal, 3)
      await journal.append(outChannel.channel, [buildSealedMessage(4)])
      expect(await journal.assume(outChannel.channel, 10_000, 9)).toBe(0)
      expect(await journal.assume(outChannel.channel, 10_001, 2)).toBe(2)
      expect(await journal.assume(outChannel.channel, 10_001, 9)).toBe(1)
      expect(await listStates(journal)).toEqual(['ASSUMED', 'ASSUMED', 'ASSUMED', 'SPOOLED'])
      await journal.mark(outChannel.channel, [buildSealedMessage(1)], 'PICKED_UP', 20_000)
      expect((await listStates(journal))[0]).toBe('ASSUMED')
    },
  ),

  journalRequirement(
    'journal/acknowledge',
    'a floor acknowledges taken messages, stops before waiting ones, and never falls',
    async (world) => {
      const { journal } = world
      await publishAndTake(journal, 4)
      await journal.append(outChannel.channel, [buildSealedMessage(5), buildSealedMessage(6)])
      await journal.mark(outChannel.channel, [buildSealedMessage(6)], 'PUBLISHED', 2_000)
      expect(await journal.acknowledge(outChannel.channel, 1, 3, 2)).toBe(2)
      expect(await journal.acknowledge(outChannel.channel, 1, 3, 9)).toBe(3)
      expect(await journal.acknowledge(outChannel.channel, 1, 1, 9)).toBe(3)
      expect(await journal.acknowledge(outChannel.channel, 1, 99, 9)).toBe(4)
      const { journal: again } = await world.reopen()
      const acknowledged = Array.from({ length: 4 }, () => 'ACKNOWLEDGED')
      expect(await listStates(again)).toEqual([...acknowledged, 'SPOOLED', 'PUBLISHED'])
      await again.mark(outChannel.channel, [buildSealedMessage(5), buildSealedMessage(6)], 'PICKED_UP', 3_000)
      expect(await again.acknowledge(outChannel.channel, 1, 99, 9)).toBe(6)
      expect(await again.acknowledge(outChannel.channel, 2, 99, 9)).toBe(0)
      expect(await again.assume(outChannel.channel, 99_999, 9)).toBe(0)
    },
  ),

  journalRequirement(
    'journal/open-epoch',
    'an epoch opens with its first message in one step, or not at all',
    async (world) => {
      const { journal } = world
      await publishAndTake(journal, 2)
      await journal.setState(outChannel.channel, 'frozen', 'a reason')
      const first = buildSealedMessage(1, { epoch: 3, event_id: 'opening' })
      expect(
        await journal.openEpoch(outChannel.channel, buildSealedMessage(1, { event_id: 'other' }), [sampleEvent]),
      ).toBe('behind')
      expect(await journal.openEpoch(outChannel.channel, { ...first, seq: 2 }, [sampleEvent])).toBe('behind')
      expect(await world.countAuditRecords()).toBe(0)
      // The second message makes the step fail as a whole: its event id is taken.
      await expect(
        journal.openEpoch(outChannel.channel, { ...first, event_id: 'event-1' }, [sampleEvent]),
      ).rejects.toThrow()
      expect((await journal.channels())[0]).toMatchObject({ state: 'frozen', epoch: 1 })
      expect(await journal.openEpoch(outChannel.channel, first, [sampleEvent])).toBe('opened')
      expect(await world.countAuditRecords()).toBe(1)
      const { journal: again } = await world.reopen()
      expect((await again.channels())[0]).toMatchObject({ state: 'open', detail: '', epoch: 3, sent: 3 })
      expect(await again.head(outChannel.channel)).toEqual({ epoch: 3, seq: 1, digest: first.digest })
      expect(await again.append(outChannel.channel, [buildSealedMessage(3)])).toBe('behind')
      expect(await again.outbox(outChannel.channel, 'SPOOLED', 9)).toEqual([first])
    },
  ),

  journalRequirement('journal/inventory', 'the last inventory that was sent is remembered', async ({ journal }) => {
    await journal.registerChannel(outChannel)
    await journal.append(outChannel.channel, [
      buildSealedMessage(1),
      buildSealedMessage(2, { kind: 'inventory', at: 7_000 }),
      buildSealedMessage(3),
    ])
    expect((await journal.channels())[0]).toMatchObject({ inventory: 2, inventory_at: 7_000 })
  }),

  journalRequirement(
    'journal/kept',
    'files stay from the time when the carrier took them, or when they arrived',
    async (world) => {
      const { journal } = world
      await publishAndTake(journal, 2, 2_000)
      await journal.mark(outChannel.channel, [buildSealedMessage(1)], 'PICKED_UP', 9_000)
      await journal.registerChannel(inChannel)
      await journal.receive(inChannel.channel, [buildArrival(1), buildArrival(2), buildArrival(3, { at: 4_000 })])
      await journal.recordOutcomes(inChannel.channel, [
        { epoch: 1, seq: 1, state: 'applied', code: '' },
        { epoch: 1, seq: 2, state: 'quarantined', code: 'SCHEMA' },
        { epoch: 1, seq: 3, state: 'applied', code: '' },
      ])
      expect(await journal.retained(outChannel.channel, 2_000, 9)).toEqual([])
      expect(await journal.retained(outChannel.channel, 2_001, 1)).toEqual([{ epoch: 1, seq: 1 }])
      expect(await journal.retained(inChannel.channel, 9_000, 9)).toEqual([
        { epoch: 1, seq: 3 },
        { epoch: 1, seq: 1 },
      ])
      await journal.dropRetained(inChannel.channel, [{ epoch: 1, seq: 1 }])
      await journal.dropRetained(outChannel.channel, [{ epoch: 1, seq: 1 }])
      const { journal: again } = await world.reopen()
      expect(await again.retained(inChannel.channel, 9_000, 9)).toEqual([{ epoch: 1, seq: 3 }])
      expect((await again.sentRun(outChannel.channel, 1, 1, 9, 9)).map(({ taken }) => taken)).toEqual([
        undefined,
        2_000,
      ])
      expect(await again.entry(inChannel.channel, 1, 1)).toMatchObject({
        state: 'applied',
        digest: buildArrival(1).digest,
      })
    },
  ),
]
