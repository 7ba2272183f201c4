// A deleted entity: no lookup answers it, its records stay out of matching, and an id is never used again.
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { create as arrive } from '../../../daemon/roles/resolution/arrival/create.ts'
import { get as arrival } from '../../../daemon/roles/resolution/arrival/get.ts'
import { find } from '../../../daemon/roles/resolution/entity/find.ts'
import { lookup } from '../../../daemon/roles/resolution/entity/lookup.ts'
import { get as cluster } from '../../../daemon/roles/resolution/entity-cluster/get.ts'
import { list as clusters } from '../../../daemon/roles/resolution/entity-cluster/list.ts'
import type { ClusterView } from '../../../daemon/roles/resolution/entity-cluster/model.ts'
import { remove } from '../../../daemon/roles/resolution/entity-cluster/remove.ts'
import { review } from '../../../daemon/roles/resolution/entity-match/review.ts'
import { uncertain } from '../../../daemon/roles/resolution/entity-match/uncertain.ts'
import { forget } from '../../../daemon/roles/resolution/entity-record/forget.ts'
import { list as records } from '../../../daemon/roles/resolution/entity-record/list.ts'
import { start } from '../../../daemon/roles/resolution/fusion-run/start.ts'
import { create } from '../../../daemon/roles/resolution/lens/create.ts'
import type { CheckedClient } from '../../support/http/checked-client.ts'
import { waitUntil } from '../../support/site/test-site.ts'
import { buildPeople, buildPersonLens, setUpResolutionSite, waitForRunEnd } from './resolution-site.ts'
import { buildMatchUid, seedRegistry } from './seed-registry.ts'

const world = setUpResolutionSite()
let ann: CheckedClient
let olga: CheckedClient
beforeAll(async () => {
  ann = await world().as()
  olga = await world().as({ subject: 'olga', roles: ['operator'] })
  await ann.ok(create, { body: buildPersonLens() })
})

const lists = { east: buildPeople(0, 40), west: buildPeople(10, 50), north: buildPeople(5, 30) }
const reason = 'test data'

async function runLists() {
  world().clock.advance(1_000)
  const { run_id } = await ann.ok(start, { lens_id: 'people', node_data: lists })
  return await waitForRunEnd(ann, run_id)
}

const record = (number: number) => ({ lens: 'people', node_id: 'east', record_id: `p${number}` })
const entityOf = async (number: number) => (await ann.ok(find, record(number))).uid

async function sendRecord(sent: object, node_id = 'east') {
  world().clock.advance(1_000)
  const { uid } = await ann.ok(arrive, { node_id, records: [sent] as never })
  const { items } = await waitUntil(async () => {
    const now = await ann.ok(arrival, { uid })
    return now.state === 'matched' && now
  })
  return items[0]
}

async function findEntitiesLike(number: number) {
  const { entities } = await ann.ok(lookup, { record: { ...buildPeople(number, number + 1)[0], id: '' } })
  return entities.filter(({ above_cut }) => above_cut).map(({ entity }) => entity)
}

describe('a deleted entity', () => {
  let uid: string
  beforeAll(async () => {
    await runLists()
    uid = await entityOf(12)
    expect(await findEntitiesLike(12)).toEqual([uid])
    await olga.ok(remove, { uid, reason })
  })

  test('says that it is deleted, by whom and why, with its last records', async () => {
    const shown = await ann.ok(cluster, { uid })
    expect(shown).toMatchObject({ state: 'deleted', size: 0, members: [], deleted: { by: 'olga', reason } })
    expect(shown.former?.map(({ node_id }) => node_id)).toEqual(['east', 'north', 'west'])
    expect((await ann.ok(records, { uid })).items).toEqual([])
    const { items } = await ann.ok(clusters, { state: 'deleted' })
    expect(items.map((item) => item.uid)).toEqual([uid])
  })

  test('answers no lookup, and none of its records has an entity', async () => {
    expect(await findEntitiesLike(12)).toEqual([])
    const { problem } = await ann.call(find, record(12))
    expect(problem?.detail).toMatch(`belongs to no entity since ${uid} was deleted at `)
  })

  test('stays so when a run brings its records again', async () => {
    const run = await runLists()
    expect(run).toMatchObject({ state: 'completed', left_out: [{ what: 'withdrawn_records', count: 3, limit: 0 }] })
    expect(await findEntitiesLike(12)).toEqual([])
    expect(await ann.ok(cluster, { uid })).toMatchObject({ state: 'deleted' })
  })

  test('stays so when a similar record arrives, which is an entity of its own', async () => {
    const arrived = await sendRecord({ ...buildPeople(12, 13)[0], id: 's12' }, 'south')
    expect(arrived).toMatchObject({ outcome: 'new', size: 1 })
    expect(arrived?.entity).not.toBe(uid)
  })

  test('gives back a record that arrives with other values, and no other', async () => {
    expect(await sendRecord(buildPeople(12, 13)[0] ?? {})).toEqual({ record_id: 'p12', outcome: 'deleted' })
    const other = await sendRecord({ ...buildPeople(90, 91)[0], id: 'p12' })
    expect(other).toMatchObject({ outcome: 'replaced', size: 1 })
    expect(other?.entity).not.toBe(uid)
    expect(await entityOf(12)).toBe(other?.entity)
  })

  test('is deleted once, and its remaining records can be forgotten later', async () => {
    const before = await ann.ok(cluster, { uid })
    expect(await olga.ok(remove, { uid, reason: 'another' })).toEqual(before)
    const now = await olga.ok(remove, { uid, reason: 'on request', forget: true })
    expect(now).toMatchObject({ deleted: { reason }, forgotten: { by: 'olga', reason: 'on request' } })
    expect(await olga.ok(remove, { uid, reason: 'on request', forget: true })).toEqual(now)
    const tombstone = { lens: 'people', node_id: 'west', record_id: 'p12', reason: 'again' }
    expect(await olga.ok(forget, tombstone)).toMatchObject({ reason: 'on request', forgotten_by: 'olga' })
    expect(await entityOf(12)).not.toBe(uid)
  })
})

test('an entity is deleted and its records are forgotten in one step', async () => {
  await runLists()
  const uid = await entityOf(20)
  expect(await olga.ok(remove, { uid, reason, forget: true })).toMatchObject({ forgotten: { by: 'olga' } })
  expect(await sendRecord({ ...buildPeople(95, 96)[0], id: 'p20' })).toEqual({ record_id: 'p20', outcome: 'forgotten' })
})

describe('in a seeded registry', () => {
  let lens = 'seeded'
  let count = 0
  const ref = (record_id: string) => ({ lens, node_id: 'north', record_id })
  beforeEach(() => {
    lens = `seeded-${++count}`
  })

  test('records that only a forgotten one held together come apart', async () => {
    const pairs = [
      ['a', 'x', 1],
      ['b', 'x', 1],
    ] as const
    await seedRegistry(world(), { lens, clusters: [['a'], ['b'], ['x']], pairs })
    for (const [left, right] of pairs)
      await ann.ok(review, { correlation_id: buildMatchUid(left, right, lens), decision: 'confirm' })
    const whole = await waitUntil(async () => {
      const found = await ann.ok(find, ref('a'))
      return found.size === 3 && found
    })
    await olga.ok(forget, { ...ref('x'), reason })
    const [a, b] = [await ann.ok(find, ref('a')), await ann.ok(find, ref('b'))]
    expect([a.size, b.size]).toEqual([1, 1])
    expect([a.uid, b.uid]).toContain(whole.uid)
    expect(await ann.refusal(review, { correlation_id: buildMatchUid('a', 'x', lens), decision: 'reject' })).toBe(
      'not_found',
    )
  })

  test('the others of a cluster stay, and its label is theirs', async () => {
    await seedRegistry(world(), { lens, clusters: [['a', 'b', 'x']], pairs: [['a', 'b', 3]] })
    const { uid } = await ann.ok(find, ref('a'))
    await olga.ok(forget, { ...ref('x'), reason })
    expect(await ann.ok(cluster, { uid })).toMatchObject({
      state: 'live',
      size: 2,
      members: [{ record_id: 'a' }, { record_id: 'b' }],
    })
  })

  test('matches of deleted records are no longer offered for review', async () => {
    await seedRegistry(world(), { lens, clusters: [['a', 'b'], ['c']], pairs: [['b', 'c', 0.5]] })
    expect((await ann.ok(uncertain, { lens })).items).toHaveLength(1)
    await olga.ok(remove, { uid: (await ann.ok(find, ref('a'))).uid, reason })
    await waitUntil(async () => (await ann.ok(uncertain, { lens })).items.length === 0)
  })

  test('one with more than a thousand records is refused, and so is one that was merged', async () => {
    const many = Array.from({ length: 1_001 }, (_, at) => `r${at}`)
    await seedRegistry(world(), { lens, clusters: [many, ['a'], ['b']], pairs: [['a', 'b', 1]] })
    const large = await ann.ok(find, ref('r0'))
    expect(await olga.refusal(remove, { uid: large.uid, reason })).toBe('too_large')
    await ann.ok(review, { correlation_id: buildMatchUid('a', 'b', lens), decision: 'confirm' })
    const merged = await waitUntil(async () => {
      const { items } = await ann.ok(clusters, { lens, state: 'merged' })
      return (items as ClusterView[])[0]
    })
    expect(await olga.refusal(remove, { uid: merged.uid, reason })).toBe('wrong_state')
  })

  test('an entity above the clearance of a person, or of another tenant, is not there to delete', async () => {
    const label = {
      policy: 'SITE',
      level: 'SECRET',
      categories: [],
      originator: 'tenant-a',
      releasable_to: ['tenant-a'],
    }
    await seedRegistry(world(), { lens, clusters: [['a']], pairs: [], label })
    const { uid } = await ann.ok(find, ref('a'))
    const low = await world().as({ subject: 'lou', roles: ['operator'], clearance: { level: 'UNCLASSIFIED' } })
    const absent = `ent_${'0'.repeat(32)}`
    const [hidden, none] = [await low.call(remove, { uid, reason }), await low.call(remove, { uid: absent, reason })]
    expect(hidden.problem?.code).toBe('not_found')
    expect(hidden.problem?.detail).toBe(none.problem?.detail)
    const other = await world().as({ subject: 'tom', roles: ['operator'], tenant: 'tenant-b' })
    expect(await other.refusal(remove, { uid, reason })).toBe('not_your_tenant')
    expect(await ann.ok(cluster, { uid })).toMatchObject({ state: 'live' })
  })
})
