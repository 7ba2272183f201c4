// Everything that the carriers' journal must keep, as data: each adapter is run against all of it.
import { expect } from 'vitest'
import type { AuditEvent } from '../../daemon/kernel/audit.ts'
import type { Arrival, Journal, Sealed } from '../../daemon/kernel/journal.ts'

export type JournalWorld = {
  readonly journal: Journal
  /** The same journal from what is durable. */
  reopen(): Promise<JournalWorld>
  /** Events that steps of the journal have put in the audit chain. */
  audited(): Promise<number>
}

export type JournalRequirement = {
  readonly id: string
  readonly says: string
  readonly holds: (world: JournalWorld) => Promise<void>
}

export const requirement = (
  id: string,
  says: string,
  holds: (world: JournalWorld) => Promise<void>,
): JournalRequirement => ({
  id,
  says,
  holds,
})

export const out = { channel: 'x/a/b', peer: 'b', direction: 'out', epoch: 1 } as const
export const into = { channel: 'x/b/a', peer: 'b', direction: 'in', epoch: 1 } as const
export const hex = (seq: number) => seq.toString(16).padStart(96, '0')

export const sealed = (seq: number, more: Partial<Sealed> = {}): Sealed => ({
  ...{ epoch: 1, seq, event_id: `event-${seq}`, msg_id: `msg_${seq}`, kind: 'contribution', digest: hex(seq) },
  ...{ envelope: `envelope ${seq}`, body: `body ${seq} é`, at: 1_000 + seq, not_after: 10_000 },
  ...more,
})

export const arrival = (seq: number, more: Partial<Arrival> = {}): Arrival => ({
  ...{ epoch: 1, seq, digest: hex(seq), prev: hex(seq - 1), msg_id: `msg_${seq}`, kind: 'result', at: 5_000 },
  ...more,
})

export const event: AuditEvent = {
  ...{ at: '2026-03-01T12:00:00Z', action: 'test.step', outcome: 'done', tenant_id: 't', subject: 's' },
  ...{ target: 'x', trace_id: '0', detail: {} },
}

export const journalRequirements: readonly JournalRequirement[] = [
  requirement('journal/introduce', 'a channel is introduced once, and keeps its state', async ({ journal, reopen }) => {
    expect(await journal.introduce(out)).toMatchObject({ ...out, state: 'enrolling', sent: 0, inventory: 0 })
    await journal.setState(out.channel, 'frozen', 'a reason')
    const again = (await reopen()).journal
    expect(await again.introduce(out)).toMatchObject({ state: 'frozen', detail: 'a reason' })
    expect(await again.channels()).toHaveLength(1)
  }),

  requirement('journal/append', 'messages continue the head without a gap, or nothing is written', async (world) => {
    const { journal } = world
    await journal.introduce(out)
    expect(await journal.head(out.channel)).toEqual({ epoch: 1, seq: 0, digest: undefined })
    expect(await journal.append(out.channel, [sealed(2)])).toBe('behind')
    expect(await journal.append(out.channel, [sealed(1), sealed(3)])).toBe('behind')
    expect(await journal.append(out.channel, [sealed(1, { epoch: 2 })])).toBe('behind')
    expect(await journal.append(out.channel, [sealed(1), sealed(2)])).toBe('appended')
    expect(await journal.append(out.channel, [sealed(2, { event_id: 'other' })])).toBe('behind')
    const { journal: again } = await world.reopen()
    expect(await again.head(out.channel)).toEqual({ epoch: 1, seq: 2, digest: hex(2) })
    expect(await again.outbox(out.channel, 'SPOOLED', 9)).toEqual([sealed(1), sealed(2)])
    expect((await again.channels())[0]?.sent).toBe(2)
  }),

  requirement('journal/event', 'an event id is used once per channel', async ({ journal }) => {
    await journal.introduce(out)
    await journal.append(out.channel, [sealed(1)])
    const { envelope: _, body: __, ...known } = sealed(1)
    expect(await journal.sent(out.channel, 'event-1')).toEqual(known)
    expect(await journal.sent(out.channel, 'event-2')).toBeUndefined()
    await expect(journal.append(out.channel, [sealed(2, { event_id: 'event-1' })])).rejects.toThrow()
    expect(await journal.head(out.channel)).toMatchObject({ seq: 1 })
  }),

  requirement('journal/backlog', 'what waits is counted, since the first of it', async ({ journal }) => {
    await journal.introduce(out)
    await journal.introduce(into)
    expect(await journal.backlog(out.channel)).toEqual({ spooled: 0, published: 0 })
    await journal.append(out.channel, [sealed(1), sealed(2), sealed(3), sealed(4)])
    await journal.mark(out.channel, [sealed(1), sealed(2)], 'PUBLISHED', 2_000)
    expect(await journal.backlog(out.channel)).toEqual({ spooled: 2, published: 2, oldest: 1_001 })
    await journal.mark(out.channel, [sealed(1), sealed(2)], 'PICKED_UP', 2_000)
    expect(await journal.backlog(out.channel)).toEqual({ spooled: 2, published: 0, oldest: 1_003 })
    expect(await journal.backlog(into.channel)).toEqual({ spooled: 0, published: 0 })
    await journal.waiting(into.channel, ['b'], 400)
    await journal.waiting(into.channel, ['a', 'b'], 500)
    expect(await journal.backlog(into.channel)).toEqual({ spooled: 0, published: 0, oldest: 400 })
  }),

  requirement('journal/states', 'a message moves forward only, and loses its bytes at the end', async ({ journal }) => {
    await journal.introduce(out)
    await journal.append(out.channel, [sealed(1), sealed(2), sealed(3)])
    await journal.mark(out.channel, [sealed(1), sealed(2)], 'PUBLISHED', 2_000)
    await journal.mark(out.channel, [sealed(1)], 'PICKED_UP', 2_000)
    await journal.mark(out.channel, [sealed(1)], 'SPOOLED', 2_000)
    expect(await journal.numbers(out.channel, 'PICKED_UP')).toEqual([{ epoch: 1, seq: 1 }])
    expect(await journal.outbox(out.channel, 'PUBLISHED', 9)).toEqual([sealed(2)])
    expect(await journal.outbox(out.channel, 'SPOOLED', 9)).toEqual([sealed(3)])
    expect(await journal.get(out.channel, 1, 1)).toBeUndefined()
    expect(await journal.get(out.channel, 1, 2)).toEqual(sealed(2))
    expect(await journal.sent(out.channel, 'event-1')).toMatchObject({ seq: 1 })
  }),

  requirement('journal/receive', 'the first arrival under a number stays, and is given back', async (world) => {
    const { journal } = world
    await journal.introduce(into)
    const [first] = await journal.receive(into.channel, [arrival(1)])
    expect(first).toEqual({ ...arrival(1), state: 'received', code: '' })
    expect(await journal.receive(into.channel, [arrival(1, { digest: hex(99), at: 9_000 })])).toEqual([first])
    const { journal: again } = await world.reopen()
    expect(await again.entry(into.channel, 1, 1)).toEqual(first)
    expect(await again.entry(into.channel, 2, 1)).toBeUndefined()
    expect(await again.entry(out.channel, 1, 1)).toBeUndefined()
  }),

  requirement('journal/settle', 'a number is settled once, with its audit events in the same step', async (world) => {
    const { journal } = world
    await journal.introduce(into)
    await journal.settle(into.channel, [{ epoch: 1, seq: 1, state: 'applied', code: '', audit: [event] }])
    expect(await world.audited()).toBe(0)
    await journal.receive(into.channel, [arrival(1)])
    await journal.settle(into.channel, [{ epoch: 1, seq: 1, state: 'applied', code: '', audit: [event] }])
    await journal.settle(into.channel, [{ epoch: 1, seq: 1, state: 'refused', code: 'x', audit: [event] }])
    expect(await world.audited()).toBe(1)
    expect(await journal.entry(into.channel, 1, 1)).toMatchObject({ state: 'applied', code: '' })
    expect((await journal.channels())[0]).toMatchObject({ received: 1, duplicates: 0 })
    await journal.duplicate(into.channel, 2)
    expect((await journal.channels())[0]).toMatchObject({ received: 1, duplicates: 2 })
  }),

  requirement('journal/progress', 'floor, highest and gaps are right in any order of arrival', async ({ journal }) => {
    await journal.introduce(into)
    const seen = new Set<number>()
    for (const seq of [4, 2, 9, 1, 8, 3, 3, 12, 7, 5]) {
      await journal.receive(into.channel, [arrival(seq)])
      seen.add(seq)
      const highest = Math.max(...seen)
      let floor = 0
      while (seen.has(floor + 1)) floor += 1
      const arrived = seen.size - floor
      expect(await journal.progress(into.channel, 1)).toEqual({ floor, highest, arrived })
    }
    expect(await journal.gaps(into.channel, 1, 9)).toEqual([
      { first: 6, last: 6 },
      { first: 10, last: 11 },
    ])
    expect(await journal.gaps(into.channel, 1, 1)).toEqual([{ first: 6, last: 6 }])
    expect(await journal.progress(into.channel, 2)).toEqual({ floor: 0, highest: 0, arrived: 0 })
  }),

  requirement('journal/attempts', 'attempts are counted across restarts, until forgiven or settled', async (world) => {
    const { journal } = world
    expect(await journal.failed(into.channel, 1, 1)).toBe(1)
    const { journal: again } = await world.reopen()
    expect(await again.failed(into.channel, 1, 1)).toBe(2)
    expect(await again.failed(into.channel, 1, 2)).toBe(1)
    await again.forgive(into.channel, 1, 1)
    expect(await again.failed(into.channel, 1, 1)).toBe(1)
    await again.settle(into.channel, [{ epoch: 1, seq: 1, state: 'quarantined', code: 'POISON' }])
    expect(await again.failed(into.channel, 1, 1)).toBe(1)
  }),

  requirement(
    'journal/waiting',
    'each name waits since it was first seen; one that is gone is forgotten',
    async (world) => {
      const { journal } = world
      expect(await journal.waiting(into.channel, ['a', 'b'], 100)).toEqual(
        new Map([
          ['a', 100],
          ['b', 100],
        ]),
      )
      const { journal: again } = await world.reopen()
      expect(await again.waiting(into.channel, ['a', 'c'], 200)).toEqual(
        new Map([
          ['a', 100],
          ['c', 200],
        ]),
      )
      expect(await again.waiting(into.channel, ['b'], 300)).toEqual(new Map([['b', 300]]))
      expect(await again.waiting(out.channel, ['b'], 400)).toEqual(new Map([['b', 400]]))
    },
  ),

  requirement('journal/waiting-stretch', 'outside the stretch nothing is forgotten', async ({ journal }) => {
    await journal.waiting(into.channel, ['a', 'b', 'c', 'd', '\u00ff'], 100)
    expect(await journal.waiting(into.channel, ['c'], 200, { after: 'a', upto: 'c' })).toEqual(new Map([['c', 100]]))
    expect(await journal.waiting(into.channel, [], 200, { after: 'd' })).toEqual(new Map())
    expect(await journal.waiting(into.channel, ['a', 'b', 'c', 'd', '\u00ff'], 300)).toEqual(
      new Map(Object.entries({ a: 100, b: 300, c: 100, d: 100, '\u00ff': 300 })),
    )
  }),
]
