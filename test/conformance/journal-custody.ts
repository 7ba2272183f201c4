// Requirements on decisions of people in the carriers' journal: waivers that pass a message once, and orders that hold for ever.
import { expect } from 'vitest'
import { sha384 } from '../../daemon/kernel/encoding/canonical-json.ts'
import type { Journal, Waiver } from '../../daemon/kernel/messaging/journal.ts'
import { type JournalRequirement, journalRequirement } from './journal.ts'
import { buildArrival, buildSealedMessage, inChannel, outChannel, sampleEvent } from './journal-samples.ts'

const { channel } = inChannel
const buildWaiver = (seq: number, more: Partial<Waiver> = {}): Waiver => ({
  ...{
    item: `item-${seq}`,
    epoch: 1,
    seq,
    statement: buildArrival(seq).digest,
    envelope: 'e',
    body: 'b',
    reason: 'QUOTA',
  },
  ...more,
})
const label = { policy: 'SITE', level: 'SECRET', categories: ['X'], originator: 'a', releasable_to: ['b'] }

async function recordArrival(journal: Journal, seq: number, state: 'applied' | 'refused' | 'quarantined') {
  await journal.receive(channel, [buildArrival(seq)])
  await journal.recordOutcomes(channel, [{ epoch: 1, seq, state, code: 'c' }])
}

export const custodyRequirements: readonly JournalRequirement[] = [
  journalRequirement(
    'journal/waive',
    'a waiver opens its number again, once, with its audit events, until it is spent',
    async (world) => {
      const { journal } = world
      await journal.registerChannel(inChannel)
      await recordArrival(journal, 1, 'quarantined')
      await journal.countFailure(channel, 1, 1)
      for (let i = 0; i < 2; i++)
        expect(await journal.waive(channel, buildWaiver(1, { label }), [sampleEvent])).toBe('waived')
      expect(await journal.entry(channel, 1, 1)).toMatchObject({ state: 'received', code: '' })
      expect([await journal.countFailure(channel, 1, 1), await world.countAuditRecords()]).toEqual([1, 1])
      const { journal: again } = await world.reopen()
      expect(await again.waivers(channel)).toEqual([buildWaiver(1, { label })])
      expect(await again.waivers(outChannel.channel)).toEqual([])
      await again.spendWaiver(channel, 'item-1')
      expect(await again.waivers(channel)).toEqual([])
      expect(await again.waive(channel, buildWaiver(1), [sampleEvent])).toBe('ended')
    },
  ),

  journalRequirement(
    'journal/waive-not',
    'an applied or refused item stays so, and two items never share a number',
    async (world) => {
      const { journal } = world
      await journal.registerChannel(inChannel)
      await recordArrival(journal, 1, 'applied')
      await recordArrival(journal, 2, 'refused')
      await recordArrival(journal, 3, 'quarantined')
      for (const seq of [1, 2]) expect(await journal.waive(channel, buildWaiver(seq), [sampleEvent])).toBe('ended')
      const other = buildWaiver(3, { statement: 'f'.repeat(96) })
      expect(await journal.waive(channel, other, [])).toBe('waived')
      expect(await journal.entry(channel, 1, 3)).toMatchObject({ state: 'quarantined' })
      expect(await journal.waive(channel, buildWaiver(3, { item: 'another' }), [sampleEvent])).toBe('taken')
      expect(await journal.waive(channel, buildWaiver(9), [])).toBe('waived')
      expect([(await journal.waivers(channel)).map(({ seq }) => seq), await world.countAuditRecords()]).toEqual([
        [3, 9],
        0,
      ])
    },
  ),

  journalRequirement(
    'journal/quarantined',
    'an item has one id and one audit record, and another id after its release',
    async (world) => {
      const { journal } = world
      await journal.registerChannel(inChannel)
      const record = (item: string) => ({ fingerprint: 'f', item, audit: sampleEvent })
      expect(await journal.recordQuarantined(channel, [record('item-1')])).toEqual([{ item: 'item-1', is_new: true }])
      const again = await world.reopen()
      expect(await again.journal.recordQuarantined(channel, [record('x'), { fingerprint: 'g', item: 'y' }])).toEqual([
        { item: 'item-1', is_new: false },
        { item: 'y', is_new: true },
      ])
      expect(await again.countAuditRecords()).toBe(1)
      await again.journal.waive(channel, buildWaiver(1), [])
      expect(await again.journal.recordQuarantined(channel, [record('item-2')])).toEqual([
        { item: 'item-2', is_new: true },
      ])
      expect(await again.countAuditRecords()).toBe(2)
    },
  ),

  journalRequirement(
    'journal/dismiss',
    'a dismissed item is forgotten with its audit events, and one that is being released is not dismissed',
    async (world) => {
      const { journal } = world
      await journal.registerChannel(inChannel)
      const record = (item: string) => ({ fingerprint: 'f', item })
      await journal.recordQuarantined(channel, [record('item-9')])
      expect(await journal.dismiss(channel, 'item-9', [sampleEvent])).toBe('dismissed')
      expect(await world.countAuditRecords()).toBe(1)
      const reopened = await world.reopen()
      const again = reopened.journal
      expect(await again.recordQuarantined(channel, [record('item-10')])).toEqual([{ item: 'item-10', is_new: true }])
      await again.waive(channel, buildWaiver(1), [])
      expect(await again.dismiss(channel, 'item-1', [sampleEvent])).toBe('released')
      await again.spendWaiver(channel, 'item-1')
      expect(await again.dismiss(channel, 'item-1', [sampleEvent])).toBe('dismissed')
      expect(await reopened.countAuditRecords()).toBe(2)
    },
  ),

  journalRequirement('journal/purge-order', 'an order is made once and holds for ever; finds add up', async (world) => {
    const { journal } = world
    const order = { digest: 'd'.repeat(96), reason: 'spillage', at: 7 }
    await journal.orderPurge(order, [sampleEvent])
    await journal.orderPurge({ ...order, reason: 'again', at: 8 }, [sampleEvent])
    await journal.addPurgeFinds(order.digest, { places: ['a', 'b'], msg_ids: ['m'], sessions: [] })
    const reopened = await world.reopen()
    const { journal: again } = reopened
    await again.addPurgeFinds(order.digest, { places: ['b', 'c'], msg_ids: ['m'], sessions: ['s'] })
    expect([await again.purgeOrders(), await reopened.countAuditRecords()]).toEqual([[order], 1])
    expect(await again.purgeFinds(order.digest)).toEqual({ places: ['a', 'b', 'c'], msg_ids: ['m'], sessions: ['s'] })
    expect(await again.purgeFinds('e'.repeat(96))).toEqual({ places: [], msg_ids: [], sessions: [] })
  }),

  journalRequirement(
    'journal/purge-sent',
    'bytes are found by body or statement, dropped, and never out',
    async (world) => {
      const { journal } = world
      await journal.registerChannel(outChannel)
      await journal.append(
        outChannel.channel,
        Array.from({ length: 70 }, (_, index) => buildSealedMessage(index + 1)),
      )
      const { body, digest } = buildSealedMessage(69)
      for (const wanted of [digest, sha384(body)])
        expect((await listFittingBytes(journal, wanted)).map(({ seq }) => seq)).toEqual([69])
      await journal.purgeSent(outChannel.channel, [buildSealedMessage(69)])
      await journal.mark(outChannel.channel, [buildSealedMessage(69)], 'PICKED_UP', 1)
      expect(await listFittingBytes(journal, digest)).toEqual([])
      expect(await journal.get(outChannel.channel, 1, 69)).toBeUndefined()
      expect(await journal.scrub()).toBe('rewritten')
      const { journal: again } = await world.reopen()
      expect((await again.sentRun(outChannel.channel, 1, 68, 70, 9)).map(({ state }) => state)).toEqual([
        'SPOOLED',
        'PURGED',
        'SPOOLED',
      ])
      expect((await again.outbox(outChannel.channel, 'SPOOLED', 99)).length).toBe(69)
      expect(await again.head(outChannel.channel)).toMatchObject({ seq: 70 })
    },
  ),
]

async function listFittingBytes(journal: Journal, digest: string) {
  const found = []
  let after: number | undefined = 0
  while (after !== undefined) {
    const look: Awaited<ReturnType<Journal['bytesFitting']>> = await journal.bytesFitting(digest, after)
    found.push(...look.found)
    after = look.next
  }
  return found
}
