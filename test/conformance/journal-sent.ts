// What the carriers' journal must keep of messages that have left: evidence, epochs, and how long their files stay.
import { expect } from 'vitest'
import type { Journal } from '../../daemon/kernel/journal.ts'
import { arrival, event, into, type JournalRequirement, out, requirement, sealed } from './journal.ts'

const states = async (journal: Journal, epoch = 1) =>
  (await journal.sentRun(out.channel, epoch, 1, 99, 99)).map(({ state }) => state)

/** Numbers 1 to `count`, published, and taken by the carrier at `at`. */
async function pickedUp(journal: Journal, count: number, at = 2_000) {
  await journal.introduce(out)
  const messages = Array.from({ length: count }, (_, index) => sealed(index + 1))
  await journal.append(out.channel, messages)
  await journal.mark(out.channel, messages, 'PUBLISHED', at)
  await journal.mark(out.channel, messages, 'PICKED_UP', at)
}

export const sentRequirements: readonly JournalRequirement[] = [
  requirement('journal/sent-run', 'a run of numbers is told as it stands, and no more of it', async ({ journal }) => {
    await pickedUp(journal, 2)
    await journal.append(out.channel, [sealed(3)])
    const { epoch, kind } = sealed(1)
    expect(await journal.sentRun(out.channel, 1, 2, 9, 9)).toEqual([
      { epoch, seq: 2, kind, digest: sealed(2).digest, state: 'PICKED_UP', taken: 2_000 },
      { epoch, seq: 3, kind, digest: sealed(3).digest, state: 'SPOOLED' },
    ])
    expect(await journal.sentRun(out.channel, 1, 1, 9, 1)).toHaveLength(1)
    expect(await journal.sentRun(out.channel, 2, 1, 9, 9)).toEqual([])
    expect(await journal.sentRun(into.channel, 1, 1, 9, 9)).toEqual([])
  }),

  requirement('journal/digests', 'the last digests of the epoch, lowest first', async ({ journal }) => {
    await pickedUp(journal, 5)
    expect(await journal.digests(out.channel, 3)).toEqual([3, 4, 5].map((seq) => sealed(seq).digest))
    expect(await journal.digests(out.channel, 9)).toHaveLength(5)
    await journal.openEpoch(out.channel, sealed(1, { epoch: 2, event_id: 'opening', digest: 'f'.repeat(96) }), [])
    expect(await journal.digests(out.channel, 9)).toEqual(['f'.repeat(96)])
  }),

  requirement('journal/assume', 'what was taken is assumed when its time is over, no sooner', async ({ journal }) => {
    await pickedUp(journal, 3)
    await journal.append(out.channel, [sealed(4)])
    expect(await journal.assume(out.channel, 10_000, 9)).toBe(0)
    expect(await journal.assume(out.channel, 10_001, 2)).toBe(2)
    expect(await journal.assume(out.channel, 10_001, 9)).toBe(1)
    expect(await states(journal)).toEqual(['ASSUMED', 'ASSUMED', 'ASSUMED', 'SPOOLED'])
    await journal.mark(out.channel, [sealed(1)], 'PICKED_UP', 20_000)
    expect((await states(journal))[0]).toBe('ASSUMED')
  }),

  requirement(
    'journal/acknowledge',
    'a floor acknowledges what was taken, stops before what waits, and never falls',
    async (world) => {
      const { journal } = world
      await pickedUp(journal, 4)
      await journal.append(out.channel, [sealed(5), sealed(6)])
      await journal.mark(out.channel, [sealed(6)], 'PUBLISHED', 2_000)
      expect(await journal.acknowledge(out.channel, 1, 3, 2)).toBe(2)
      expect(await journal.acknowledge(out.channel, 1, 3, 9)).toBe(3)
      expect(await journal.acknowledge(out.channel, 1, 1, 9)).toBe(3)
      expect(await journal.acknowledge(out.channel, 1, 99, 9)).toBe(4)
      const { journal: again } = await world.reopen()
      const acknowledged = Array.from({ length: 4 }, () => 'ACKNOWLEDGED')
      expect(await states(again)).toEqual([...acknowledged, 'SPOOLED', 'PUBLISHED'])
      await again.mark(out.channel, [sealed(5), sealed(6)], 'PICKED_UP', 3_000)
      expect(await again.acknowledge(out.channel, 1, 99, 9)).toBe(6)
      expect(await again.acknowledge(out.channel, 2, 99, 9)).toBe(0)
      expect(await again.assume(out.channel, 99_999, 9)).toBe(0)
    },
  ),

  requirement(
    'journal/open-epoch',
    'an epoch opens with its first message in one step, or not at all',
    async (world) => {
      const { journal } = world
      await pickedUp(journal, 2)
      await journal.setState(out.channel, 'frozen', 'a reason')
      const first = sealed(1, { epoch: 3, event_id: 'opening' })
      expect(await journal.openEpoch(out.channel, sealed(1, { event_id: 'other' }), [event])).toBe('behind')
      expect(await journal.openEpoch(out.channel, { ...first, seq: 2 }, [event])).toBe('behind')
      expect(await world.audited()).toBe(0)
      // The second message makes the step fail as a whole: its event id is taken.
      await expect(journal.openEpoch(out.channel, { ...first, event_id: 'event-1' }, [event])).rejects.toThrow()
      expect((await journal.channels())[0]).toMatchObject({ state: 'frozen', epoch: 1 })
      expect(await journal.openEpoch(out.channel, first, [event])).toBe('opened')
      expect(await world.audited()).toBe(1)
      const { journal: again } = await world.reopen()
      expect((await again.channels())[0]).toMatchObject({ state: 'open', detail: '', epoch: 3, sent: 3 })
      expect(await again.head(out.channel)).toEqual({ epoch: 3, seq: 1, digest: first.digest })
      expect(await again.append(out.channel, [sealed(3)])).toBe('behind')
      expect(await again.outbox(out.channel, 'SPOOLED', 9)).toEqual([first])
    },
  ),

  requirement('journal/inventory', 'the last inventory that was sent is remembered', async ({ journal }) => {
    await journal.introduce(out)
    await journal.append(out.channel, [sealed(1), sealed(2, { kind: 'inventory', at: 7_000 }), sealed(3)])
    expect((await journal.channels())[0]).toMatchObject({ inventory: 2, inventory_at: 7_000 })
  }),

  requirement('journal/kept', 'files are kept since the carrier took them, or since they arrived', async (world) => {
    const { journal } = world
    await pickedUp(journal, 2, 2_000)
    await journal.mark(out.channel, [sealed(1)], 'PICKED_UP', 9_000)
    await journal.introduce(into)
    await journal.receive(into.channel, [arrival(1), arrival(2), arrival(3, { at: 4_000 })])
    await journal.settle(into.channel, [
      { epoch: 1, seq: 1, state: 'applied', code: '' },
      { epoch: 1, seq: 2, state: 'quarantined', code: 'SCHEMA' },
      { epoch: 1, seq: 3, state: 'applied', code: '' },
    ])
    expect(await journal.kept(out.channel, 2_000, 9)).toEqual([])
    expect(await journal.kept(out.channel, 2_001, 1)).toEqual([{ epoch: 1, seq: 1 }])
    expect(await journal.kept(into.channel, 9_000, 9)).toEqual([
      { epoch: 1, seq: 3 },
      { epoch: 1, seq: 1 },
    ])
    await journal.dropKept(into.channel, [{ epoch: 1, seq: 1 }])
    await journal.dropKept(out.channel, [{ epoch: 1, seq: 1 }])
    const { journal: again } = await world.reopen()
    expect(await again.kept(into.channel, 9_000, 9)).toEqual([{ epoch: 1, seq: 3 }])
    expect((await again.sentRun(out.channel, 1, 1, 9, 9)).map(({ taken }) => taken)).toEqual([undefined, 2_000])
    expect(await again.entry(into.channel, 1, 1)).toMatchObject({ state: 'applied', digest: arrival(1).digest })
  }),
]
