// Many signals by one decision, over HTTP: each by the rules of one, with an answer for each, and repeatable.
import { describe, expect, test } from 'vitest'
import { cancel } from '../../../daemon/roles/intelligence/bulk/cancel.ts'
import { create } from '../../../daemon/roles/intelligence/bulk/create.ts'
import { get as bulk } from '../../../daemon/roles/intelligence/bulk/get.ts'
import { list as bulkList } from '../../../daemon/roles/intelligence/bulk/list.ts'
import { plan } from '../../../daemon/roles/intelligence/bulk/plan.ts'
import { archive } from '../../../daemon/roles/intelligence/signal/archive.ts'
import { get } from '../../../daemon/roles/intelligence/signal/get.ts'
import type { CheckedClient } from '../../support/http/checked-client.ts'
import { readAuditEvents } from '../../support/site/read-audit-events.ts'
import { holdBulk, releaseBulk, rewindBulk, waitUntilOver } from './held-bulk.ts'
import { openInsight, raiseSignal, setUpIntelligenceSite } from './intelligence-site.ts'

const world = setUpIntelligenceSite({ bulk_signals: 120 })
const decision = { disposition: 'dismissed' as const, rationale: 'a storm' }

const readStatus = async (person: CheckedClient, uid: string) => (await person.ok(get, { uid })).status

test('each of many is decided by the table, with an answer for each and one reason in every history', async () => {
  const ann = await world().as()
  const [first, second, gone] = [await raiseSignal(ann), await raiseSignal(ann), await raiseSignal(ann)]
  await ann.ok(archive, { uid: gone })
  const signal_ids = [first, gone, second, 'sig_000000000000', first]
  expect(await ann.ok(plan, { signal_ids, disposition: 'dismissed' })).toEqual({
    ...{ matches: 3, most: 120, would_be_done: 2, would_be_refused: 1, by_status: { new: 2, dismissed: 1 } },
  })
  const made = await ann.ok(create, { signal_ids, ...decision })
  expect(made).toMatchObject({ total: 4, disposition: 'dismissed', created_by: 'ann' })
  const { items, ...done } = await waitUntilOver(ann, made.uid)
  expect(done).toMatchObject({ state: 'finished', done: 2, refused: 2, cancelled: 0 })
  expect(items).toEqual([
    { signal_id: first, outcome: 'done' },
    { signal_id: gone, outcome: 'refused', reason: expect.stringContaining('is final') },
    { signal_id: second, outcome: 'done' },
    { signal_id: 'sig_000000000000', outcome: 'refused', reason: 'there is no such signal' },
  ])
  const { metadata } = await ann.ok(get, { uid: second })
  expect(metadata.status_history).toMatchObject([{ to: 'dismissed', by: 'ann', rationale: 'a storm', bulk: made.uid }])
  expect(await ann.refusal(cancel, { uid: made.uid })).toBe('wrong_state')
  const { items: listed } = await ann.ok(bulkList, { state: 'finished' })
  expect(listed.find(({ uid }) => uid === made.uid)).toMatchObject({ done: 2 })
})

describe('a filter', () => {
  test('takes the matching signals at its start, in as many pages as it has, and none later', async () => {
    const ann = await world().as()
    const about = { subject: { type: 'sensor' as const, id: 'buoy', name: 'Buoy' } }
    const source = { type: 'polling' as const, name: 'buoys' }
    for (let n = 0; n < 3; n += 1) await raiseSignal(ann, { ...about, source, severity: 'low' })
    const other = await raiseSignal(ann, { ...about, severity: 'low' })
    const filter = { subject_id: 'buoy', severity: 'low' as const, source_name: 'buoys', status: 'new' as const }
    expect(await ann.ok(plan, { filter, disposition: 'resolved' })).toMatchObject({ matches: 3, would_be_done: 0 })
    expect(await ann.refusal(create, { filter, ...decision, expect: 2 })).toBe('wrong_state')
    const made = await ann.ok(create, { filter, ...decision, expect: 3 })
    const late = await raiseSignal(ann, { ...about, source, severity: 'low' })
    expect(await waitUntilOver(ann, made.uid)).toMatchObject({ done: 3, total: 3 })
    expect([await readStatus(ann, late), await readStatus(ann, other)]).toEqual(['new', 'new'])
    expect(await ann.ok(create, { filter: { ...filter, since: '2027-01-01T00:00:00Z' }, ...decision })).toMatchObject({
      ...{ state: 'finished', total: 0 },
    })
  })

  test('that is none, that stands beside ids, or that takes too many is refused', async () => {
    const ann = await world().as()
    for (const wrong of [
      {},
      { filter: {} },
      { signal_ids: [] },
      { signal_ids: ['a'], filter: { status: 'new' as const } },
    ])
      expect(await ann.refusal(create, { ...wrong, ...decision })).toBe('invalid')
    const signal_ids = Array.from({ length: 121 }, (_, n) => `sig_${n}`)
    expect(await ann.refusal(create, { signal_ids, ...decision })).toBe('wrong_state')
    expect(await ann.refusal(create, { signal_ids: ['a'], ...decision, disposition: 'new' as 'dismissed' })).toBe(
      'invalid',
    )
  })
})

test('a repeat under a key finds the same signals chosen, independent of matches by now', async () => {
  const ann = await world().as()
  const subject = { type: 'sensor' as const, id: 'keyed', name: 'Keyed' }
  await raiseSignal(ann, { subject })
  const headers = { 'idempotency-key': 'bulk-once' }
  const input = { filter: { subject_id: 'keyed', status: 'new' as const }, ...decision }
  const made = await ann.ok(create, input, headers)
  await waitUntilOver(ann, made.uid)
  await raiseSignal(ann, { subject })
  expect(await ann.ok(create, input, headers)).toMatchObject({ uid: made.uid, total: 1, done: 1 })
  expect(await ann.refusal(create, { ...input, rationale: 'another' }, headers)).toBe('idempotency_mismatch')
})

test('a caller who may not know of a signal neither moves it nor learns of it, and the list of them is as high as the highest', async () => {
  const ann = await world().as()
  const low = await world().as({ subject: 'lou', clearance: { level: 'UNCLASSIFIED' } })
  const bob = await world().as({ subject: 'bob', tenant: 'tenant-b' })
  const plain = await raiseSignal(ann, { classification: 'UNCLASSIFIED' })
  const secret = await raiseSignal(ann, { classification: 'SECRET' })
  const signal_ids = [plain, secret]
  expect(await low.ok(plan, { signal_ids, disposition: 'dismissed' })).toMatchObject({ matches: 1 })
  const made = await low.ok(create, { signal_ids, ...decision })
  expect((await waitUntilOver(low, made.uid)).items).toMatchObject([
    { outcome: 'done' },
    { reason: 'there is no such signal' },
  ])
  expect(await readStatus(ann, secret)).toBe('new')
  const high = await ann.ok(create, { signal_ids, ...decision })
  expect(high.classification.level).toBe('SECRET')
  for (const stranger of [low, bob]) expect(await stranger.refusal(bulk, { uid: high.uid })).toBe('not_found')
  expect(await bob.refusal(cancel, { uid: high.uid })).toBe('not_your_tenant')
  expect(await low.refusal(cancel, { uid: high.uid })).toBe('not_found')
  await waitUntilOver(ann, high.uid)
  const reader = await world().as({ roles: ['auditor'] })
  expect(await reader.refusal(create, { signal_ids, ...decision })).toBe('forbidden')
})

test('the batches of one tenant do not delay the first of another', async () => {
  const [ann, eve] = [await world().as({ tenant: 'crowded' }), await world().as({ tenant: 'elsewhere' })]
  const raiseMany = (person: CheckedClient, count: number) =>
    Promise.all(Array.from({ length: count }, () => raiseSignal(person)))
  const held = [
    await holdBulk(world(), ann, await raiseMany(ann, 120)),
    await holdBulk(world(), ann, await raiseMany(ann, 120)),
    await holdBulk(world(), eve, await raiseMany(eve, 1)),
  ]
  for (const id of held) await releaseBulk(world(), id)
  for (const [person, id] of [
    [ann, held[0]],
    [ann, held[1]],
    [eve, held[2]],
  ] as const)
    expect(await waitUntilOver(person, String(id))).toMatchObject({ state: 'finished', refused: 0 })
  const order = await readAuditEvents(world(), 'intelligence')
  const disposed = order.filter(({ detail }) => held.includes(String(detail.bulk)))
  const first = disposed.findIndex(({ detail }) => detail.bulk === held[2])
  expect(disposed).toHaveLength(241)
  // The worker may have begun with one batch, and takes another tenant before the next.
  expect(first).toBeLessThanOrEqual(100)
})

test('one that is cancelled leaves what it has not begun, and tells what it had done', async () => {
  const ann = await world().as()
  const [first, second] = [await raiseSignal(ann), await raiseSignal(ann)]
  const uid = await holdBulk(world(), ann, [first, second])
  expect(await ann.ok(cancel, { uid })).toMatchObject({ state: 'cancelling', cancelled_by: 'ann' })
  expect(await ann.ok(cancel, { uid })).toMatchObject({ state: expect.stringMatching(/^cancell/) })
  expect(await waitUntilOver(ann, uid)).toMatchObject({ state: 'cancelled', done: 0, cancelled: 2 })
  expect(await readStatus(ann, first)).toBe('new')
})

test('a bulk decision cut short between a signal and its answer is neither done twice nor reported wrongly', async () => {
  const ann = await world().as()
  const [first, second] = [await raiseSignal(ann), await raiseSignal(ann)]
  await openInsight(ann, second)
  const whole = await ann.ok(create, { signal_ids: [first, second], ...decision })
  await waitUntilOver(ann, whole.uid)
  // As it was after the signals were moved, and before their outcomes were stored.
  for (const state of ['running', 'cancelling'] as const) {
    await rewindBulk(world(), ann, whole.uid, { state })
    await releaseBulk(world(), whole.uid)
    expect(await waitUntilOver(ann, whole.uid)).toMatchObject({ done: 2, refused: 0, cancelled: 0 })
  }
  const { metadata } = await ann.ok(get, { uid: first })
  expect(metadata.status_history).toHaveLength(1)
})

test('work cut short by a stop is done after the start', async () => {
  const ann = await world().as()
  const signal_ids = await Promise.all(Array.from({ length: 110 }, () => raiseSignal(ann)))
  const { uid } = await ann.ok(create, { signal_ids, ...decision })
  await world().restart()
  expect(await waitUntilOver(ann, uid)).toMatchObject({ state: 'finished', done: 110 })
})
