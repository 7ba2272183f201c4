// Records are matched one by one with what a run has left: they join its entities, make new ones, and lookups know of them at once.
import { beforeAll, expect, test } from 'vitest'
import { create as arrive } from '../../../daemon/roles/resolution/arrival/create.ts'
import { get as arrival } from '../../../daemon/roles/resolution/arrival/get.ts'
import { lookup } from '../../../daemon/roles/resolution/entity/lookup.ts'
import { get as cluster } from '../../../daemon/roles/resolution/entity-cluster/get.ts'
import { list as clusters } from '../../../daemon/roles/resolution/entity-cluster/list.ts'
import type { ClusterView } from '../../../daemon/roles/resolution/entity-cluster/model.ts'
import { list as matches } from '../../../daemon/roles/resolution/entity-match/list.ts'
import type { MatchView } from '../../../daemon/roles/resolution/entity-match/model.ts'
import { review } from '../../../daemon/roles/resolution/entity-match/review.ts'
import { start } from '../../../daemon/roles/resolution/fusion-run/start.ts'
import { create } from '../../../daemon/roles/resolution/lens/create.ts'
import type { CheckedClient } from '../../support/http/checked-client.ts'
import { waitUntil } from '../../support/site/test-site.ts'
import { buildPeople, buildPersonLens, setUpResolutionSite, waitForRunEnd } from './resolution-site.ts'

const world = setUpResolutionSite()
let ann: CheckedClient
beforeAll(async () => {
  ann = await world().as()
  await ann.ok(create, { body: buildPersonLens() })
})

async function runLists(node_data: Record<string, ReturnType<typeof buildPeople>>) {
  world().clock.advance(1_000)
  const { run_id } = await ann.ok(start, { lens_id: 'people', node_data, accept_poor: true })
  expect(await waitForRunEnd(ann, run_id)).toMatchObject({ state: 'completed' })
  return run_id
}

/** Three, so that none is held to name everybody once. */
const lists = { east: buildPeople(0, 40), west: buildPeople(10, 50), north: buildPeople(5, 30) }

/** The person of this number, with an id of its own. */
function buildPersonAs(id: string, number: number, more: object = {}) {
  return { ...buildPeople(number, number + 1)[0], id, ...more }
}

async function submitArrivals(...records: object[]) {
  world().clock.advance(1_000)
  const result = await ann.ok(arrive, { node_id: 'south', records: records as never })
  const whole = await waitUntil(async () => {
    const now = await ann.ok(arrival, { uid: result.uid })
    return now.state !== 'waiting' && now
  })
  expect(whole.failure).toBeUndefined()
  return whole.items
}

async function listEntities(): Promise<string[]> {
  const { items } = await ann.ok(clusters, { limit: 500 })
  const live = (items as ClusterView[]).filter(({ state }) => state === 'live')
  return live.map(({ members }) => JSON.stringify(members)).sort()
}

test('before any run nothing can be matched', async () => {
  expect(await ann.refusal(arrive, { lens_id: 'people', node_id: 'south', records: [buildPersonAs('s1', 3)] })).toBe(
    'wrong_state',
  )
})

test('a record joins its entity, which keeps its id; a stranger is a new one; lookups find both', async () => {
  await runLists(lists)
  const [before] = (await ann.ok(lookup, { record: buildPersonAs('', 12) })).entities
  const [twin, stranger] = await submitArrivals(buildPersonAs('s12', 12), buildPersonAs('s90', 90))
  expect(twin).toMatchObject({ outcome: 'joined', entity: before?.entity, size: 4 })
  expect(stranger).toMatchObject({ outcome: 'new', size: 1 })
  const [now] = (await ann.ok(lookup, { record: buildPersonAs('', 90) })).entities
  expect(now).toMatchObject({
    entity: stranger?.entity,
    above_cut: true,
    record: { node_id: 'south', record_id: 's90' },
  })
  const { items } = await ann.ok(matches, { limit: 500 })
  const mine = (items as MatchView[]).filter(({ left, right }) =>
    [left, right].some(({ record_id }) => record_id === 's12'),
  )
  expect(mine.filter(({ linked }) => linked)).toHaveLength(3)
  expect(mine.every(({ state, decided_by }) => state === 'proposed' && decided_by === 'engine')).toBe(true)
})

test('an arrival does not change the score of a record', async () => {
  const record = buildPersonAs('', 14)
  const score = async () => (await ann.ok(lookup, { record })).entities[0]?.record_bits
  const before = await score()
  await submitArrivals(
    buildPersonAs('s60', 60, { surname: record.surname }),
    buildPersonAs('s61', 61, { surname: record.surname }),
  )
  expect(await score()).toBe(before)
})

test('the same record again changes nothing, and one with other values replaces the earlier ones', async () => {
  const [first] = await submitArrivals(buildPersonAs('s12', 12))
  expect(first).toMatchObject({ outcome: 'unchanged', size: 4 })
  const [moved] = await submitArrivals(buildPersonAs('s12', 90))
  expect(moved).toMatchObject({ outcome: 'replaced', size: 2 })
  const [old] = (await ann.ok(lookup, { record: buildPersonAs('', 12) })).entities
  expect(old).toMatchObject({ size: 3 })
  expect(old?.entity).not.toBe(moved?.entity)
  const [back] = await submitArrivals(buildPersonAs('s12', 12))
  expect(back).toMatchObject({ outcome: 'replaced', entity: old?.entity, size: 4 })
})

test('records come to the same entities in any order, one by one and all at once', async () => {
  const records = [70, 71, 72].flatMap((number) =>
    ['a', 'b', 'c'].map((of) => buildPersonAs(`${of}${number}`, number, of === 'c' ? { date_of_birth: '' } : {})),
  )
  await submitArrivals(...records)
  const together = await listEntities()
  const apart = records.map((record, at) => buildPersonAs(record.id, 200 + at))
  await submitArrivals(...apart)
  expect(await listEntities()).not.toEqual(together)
  for (const record of records.toReversed()) await submitArrivals(record)
  expect(await listEntities()).toEqual(together)
})

test('a decision of a person holds over what comes', async () => {
  const [{ entity } = {}] = await submitArrivals(buildPersonAs('s20', 20))
  const { items } = await ann.ok(matches, { limit: 500 })
  const pair = (items as MatchView[]).find(({ left, right }) => left.record_id === 'p20' && right.record_id === 's20')
  await ann.ok(review, { correlation_id: pair?.uid ?? '', decision: 'reject' })
  await waitUntil(async () => {
    const { size } = await ann.ok(cluster, { uid: entity ?? '' })
    return size === 3
  })
  const [again] = await submitArrivals(buildPersonAs('s20', 20, { date_of_birth: '1999-09-09' }))
  expect(again?.outcome).toBe('replaced')
  const { members } = await ann.ok(cluster, { uid: again?.entity ?? '' })
  expect(members.filter(({ record_id }) => record_id === 'p20' || record_id === 's20')).toHaveLength(1)
})

test('a run that does not bring what came leaves it where it is, and one that brings it takes it over', async () => {
  const [{ entity } = {}] = await submitArrivals(buildPersonAs('s25', 25))
  await runLists(lists)
  const now = await waitUntil(async () => {
    const found = await ann.ok(cluster, { uid: entity ?? '' })
    return found.size === 4 && found
  })
  expect(now.members.map(({ node_id }) => node_id)).toEqual(['east', 'north', 'south', 'west'])
  await runLists({ ...lists, south: [buildPersonAs('s25', 25)] as never })
  expect(await ann.ok(cluster, { uid: entity ?? '' })).toMatchObject({ size: 4, state: 'live' })
})

test('records without an id, twice the same id, or nothing to say are refused, and none of them is taken', async () => {
  const before = await listEntities()
  const refused = (records: object[]) => ann.refusal(arrive, { node_id: 'south', records: records as never })
  expect(await refused([buildPersonAs('', 95)])).toBe('invalid')
  expect(await refused([buildPersonAs('x', 95), buildPersonAs('x', 96)])).toBe('invalid')
  expect(await refused([{ id: 'x', colour: 'red' }, buildPersonAs('y', 95)])).toBe('invalid')
  expect(await listEntities()).toEqual(before)
})

test('a caller below a record learns nothing of it by sending one under its id', async () => {
  const low = await world().as({ clearance: { level: 'UNCLASSIFIED', categories: [] } })
  const secret = { node_id: 'vault', records: [buildPersonAs('v1', 97)], classification: 'SECRET' }
  const result = await ann.ok(arrive, secret as never)
  await waitUntil(async () => (await ann.ok(arrival, { uid: result.uid })).state === 'matched')
  const limited = await low.ok(arrive, {
    node_id: 'vault',
    records: [buildPersonAs('v1', 98)] as never,
    classification: 'UNCLASSIFIED',
  })
  const [item] = await waitUntil(async () => {
    const now = await low.ok(arrival, { uid: limited.uid })
    return now.state === 'matched' && now.items
  })
  expect(item).toEqual({ record_id: 'v1' })
  const [full] = (await ann.ok(arrival, { uid: limited.uid })).items
  expect(full).toMatchObject({ outcome: 'replaced', classification: { level: 'SECRET' } })
})

test('a record that joins an entity above the clearance of its sender is new to the sender', async () => {
  const low = await world().as({ subject: 'lou', roles: ['operator'], clearance: { level: 'UNCLASSIFIED' } })
  const send = async (who: CheckedClient, record_id: string, number: number, classification: string) => {
    const body = { node_id: 'vault', records: [buildPersonAs(record_id, number)], classification }
    const { uid } = await who.ok(arrive, body as never)
    await waitUntil(async () => (await who.ok(arrival, { uid })).state === 'matched')
    return async (reader: CheckedClient) => (await reader.ok(arrival, { uid })).items[0]
  }
  const hidden = await (await send(ann, 'v60', 60, 'SECRET'))(ann)
  const joining = await send(low, 'v61', 60, 'UNCLASSIFIED')
  expect(await joining(ann)).toMatchObject({ outcome: 'joined', entity: hidden?.entity })
  expect(await joining(low)).toEqual({ record_id: 'v61', outcome: 'new' })
})

test('another tenant has nothing to match with', async () => {
  const other = await world().as({ tenant: 'tenant-b' })
  expect(await other.refusal(arrive, { lens_id: 'people', node_id: 'south', records: [buildPersonAs('s1', 3)] })).toBe(
    'not_found',
  )
})
