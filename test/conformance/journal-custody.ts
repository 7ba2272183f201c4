// What the carriers' journal must keep of what people decide: waivers that let pass once, and orders that hold for ever.
import { expect } from 'vitest'
import { sha384 } from '../../daemon/kernel/canonical.ts'
import type { Journal, Waiver } from '../../daemon/kernel/journal.ts'
import { arrival, event, into, type JournalRequirement, out, requirement, sealed } from './journal.ts'

const { channel } = into
const waiver = (seq: number, more: Partial<Waiver> = {}): Waiver => ({
  ...{ item: `item-${seq}`, epoch: 1, seq, statement: arrival(seq).digest, envelope: 'e', body: 'b', reason: 'QUOTA' },
  ...more,
})
const label = { policy: 'SITE', level: 'SECRET', categories: ['X'], originator: 'a', releasable_to: ['b'] }

async function ended(journal: Journal, seq: number, state: 'applied' | 'refused' | 'quarantined') {
  await journal.receive(channel, [arrival(seq)])
  await journal.settle(channel, [{ epoch: 1, seq, state, code: 'c' }])
}

export const custodyRequirements: readonly JournalRequirement[] = [
  requirement(
    'journal/waive',
    'a waiver opens its number again, once, with its audit events, until it is spent',
    async (world) => {
      const { journal } = world
      await journal.introduce(into)
      await ended(journal, 1, 'quarantined')
      await journal.failed(channel, 1, 1)
      for (let i = 0; i < 2; i++) expect(await journal.waive(channel, waiver(1, { label }), [event])).toBe('waived')
      expect(await journal.entry(channel, 1, 1)).toMatchObject({ state: 'received', code: '' })
      expect([await journal.failed(channel, 1, 1), await world.audited()]).toEqual([1, 1])
      const { journal: again } = await world.reopen()
      expect(await again.waivers(channel)).toEqual([waiver(1, { label })])
      expect(await again.waivers(out.channel)).toEqual([])
      await again.spend(channel, 'item-1')
      expect(await again.waivers(channel)).toEqual([])
      expect(await again.waive(channel, waiver(1), [event])).toBe('ended')
    },
  ),

  requirement(
    'journal/waive-not',
    'what was applied or refused stays so, and two items never share a number',
    async (world) => {
      const { journal } = world
      await journal.introduce(into)
      await ended(journal, 1, 'applied')
      await ended(journal, 2, 'refused')
      await ended(journal, 3, 'quarantined')
      for (const seq of [1, 2]) expect(await journal.waive(channel, waiver(seq), [event])).toBe('ended')
      const other = waiver(3, { statement: 'f'.repeat(96) })
      expect(await journal.waive(channel, other, [])).toBe('waived')
      expect(await journal.entry(channel, 1, 3)).toMatchObject({ state: 'quarantined' })
      expect(await journal.waive(channel, waiver(3, { item: 'another' }), [event])).toBe('taken')
      expect(await journal.waive(channel, waiver(9), [])).toBe('waived')
      expect([(await journal.waivers(channel)).map(({ seq }) => seq), await world.audited()]).toEqual([[3, 9], 0])
    },
  ),

  requirement('journal/purge-order', 'an order is given once and holds for ever; finds add up', async (world) => {
    const { journal } = world
    const order = { digest: 'd'.repeat(96), reason: 'spillage', at: 7 }
    await journal.orderPurge(order, [event])
    await journal.orderPurge({ ...order, reason: 'again', at: 8 }, [event])
    await journal.addPurgeFinds(order.digest, { places: ['a', 'b'], msg_ids: ['m'], sessions: [] })
    const reopened = await world.reopen()
    const { journal: again } = reopened
    await again.addPurgeFinds(order.digest, { places: ['b', 'c'], msg_ids: ['m'], sessions: ['s'] })
    expect([await again.purgeOrders(), await reopened.audited()]).toEqual([[order], 1])
    expect(await again.purgeFinds(order.digest)).toEqual({ places: ['a', 'b', 'c'], msg_ids: ['m'], sessions: ['s'] })
    expect(await again.purgeFinds('e'.repeat(96))).toEqual({ places: [], msg_ids: [], sessions: [] })
  }),

  requirement('journal/purge-sent', 'bytes are found by body or statement, dropped, and never out', async (world) => {
    const { journal } = world
    await journal.introduce(out)
    await journal.append(
      out.channel,
      Array.from({ length: 70 }, (_, index) => sealed(index + 1)),
    )
    const { body, digest } = sealed(69)
    for (const wanted of [digest, sha384(body)])
      expect((await fitting(journal, wanted)).map(({ seq }) => seq)).toEqual([69])
    await journal.purgeSent(out.channel, [sealed(69)])
    await journal.mark(out.channel, [sealed(69)], 'PICKED_UP', 1)
    expect(await fitting(journal, digest)).toEqual([])
    expect(await journal.get(out.channel, 1, 69)).toBeUndefined()
    expect(await journal.scrub()).toBe('rewritten')
    const { journal: again } = await world.reopen()
    expect((await again.sentRun(out.channel, 1, 68, 70, 9)).map(({ state }) => state)).toEqual([
      'SPOOLED',
      'PURGED',
      'SPOOLED',
    ])
    expect((await again.outbox(out.channel, 'SPOOLED', 99)).length).toBe(69)
    expect(await again.head(out.channel)).toMatchObject({ seq: 70 })
  }),
]

async function fitting(journal: Journal, digest: string) {
  const found = []
  let after: number | undefined = 0
  while (after !== undefined) {
    const look: Awaited<ReturnType<Journal['bytesFitting']>> = await journal.bytesFitting(digest, after)
    found.push(...look.found)
    after = look.next
  }
  return found
}
