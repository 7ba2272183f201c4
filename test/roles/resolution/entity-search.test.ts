// Records are found by the values of their fields, as far as the caller may see them; entities have golden records and relations.
import { beforeAll, expect, test } from 'vitest'
import { create as arrive } from '../../../daemon/roles/resolution/arrival/create.ts'
import { related } from '../../../daemon/roles/resolution/entity/related.ts'
import { search } from '../../../daemon/roles/resolution/entity/search.ts'
import { get as cluster } from '../../../daemon/roles/resolution/entity-cluster/get.ts'
import { entityClusters } from '../../../daemon/roles/resolution/entity-cluster/model.ts'
import { forget } from '../../../daemon/roles/resolution/entity-record/forget.ts'
import { list as records } from '../../../daemon/roles/resolution/entity-record/list.ts'
import { start } from '../../../daemon/roles/resolution/fusion-run/start.ts'
import { get as golden } from '../../../daemon/roles/resolution/golden-record/get.ts'
import { create } from '../../../daemon/roles/resolution/lens/create.ts'
import type { CheckedClient } from '../../support/http/checked-client.ts'
import { waitUntil } from '../../support/site/test-site.ts'
import { buildPeople, buildPersonLens, setUpResolutionSite, waitForRunEnd } from './resolution-site.ts'

const world = setUpResolutionSite()
let ann: CheckedClient
let bob: CheckedClient

const fields = [
  ...buildPersonLens().fields,
  { name: 'phone', type: 'code' as const, optional: true, survivorship: 'newest' as const },
]

/** Each tenth has the telephone number of the switchboard. */
const buildStaff = (from: number, to: number) =>
  buildPeople(from, to).map((person, at) => ({ ...person, phone: `030 55 ${(from + at) % 10 === 0 ? 0 : from + at}` }))

beforeAll(async () => {
  ann = await world().as({ roles: ['operator'] })
  bob = await world().as({ subject: 'bob', clearance: { level: 'UNCLASSIFIED' } })
  await ann.ok(create, { body: { ...buildPersonLens(), fields, source_order: ['south'] } })
  const node_data = { east: buildStaff(0, 40), west: buildStaff(10, 50), north: buildStaff(5, 30) }
  const { run_id } = await ann.ok(start, { lens_id: 'people', node_data })
  expect(await waitForRunEnd(ann, run_id)).toMatchObject({ state: 'completed' })
})

async function add(record: object, more: object = {}) {
  world().clock.advance(1_000)
  const { items } = await ann.ok(arrive, { lens_id: 'people', node_id: 'south', records: [record] as never, ...more })
  return items[0]
}

test('a record is found by any field, whatever case and accents are written, and names its entity', async () => {
  const added = await add({ id: 's1', given_name: 'Zoé', surname: 'MÜLLER-Lüdenscheidt', date_of_birth: '1970-01-02' })
  for (const where of [
    { surname: 'müller lüdenscheidt' },
    { surname: 'Muller-Ludenscheidt', given_name: 'ZOE' },
    { surname: 'mull*' },
    { date_of_birth: '1970-01-02', given_name: 'Zo*' },
  ]) {
    const { items, total } = await ann.ok(search, { where })
    expect([items.length, total, items[0]]).toMatchObject([
      1,
      1,
      { record: { node_id: 'south', record_id: 's1' }, entity: added?.entity, size: 1 },
    ])
  }
  expect(await ann.ok(search, { where: { surname: 'Müller-Lüdenscheidt', given_name: 'Ann' } })).toMatchObject({
    items: [],
    total: 0,
  })
})

test('pages have each record once, and a cursor belongs to its values and clearance', async () => {
  const where = { phone: '03055*' }
  const all = await ann.ok(search, { where, limit: 500 })
  expect(all).toMatchObject({ total: 105, total_is: 'exact' })
  const found: unknown[] = []
  let cursor: string | undefined
  do {
    const page = await ann.ok(search, { where, limit: 20, ...(cursor === undefined ? {} : { cursor }) })
    found.push(...page.items)
    cursor = page.next_cursor
  } while (cursor !== undefined)
  expect(found).toEqual(all.items)
  const { next_cursor = '', ...first } = await ann.ok(search, { where, limit: 20 })
  expect(first).toMatchObject({ total: 21, total_is: 'at_least' })
  expect(await ann.refusal(search, { where: { phone: '030*' }, cursor: next_cursor })).toBe('malformed')
  expect(await bob.refusal(search, { where, cursor: next_cursor })).toBe('malformed')
})

test('an unknown field and an empty value are refused', async () => {
  expect(await ann.refusal(search, { where: { colour: 'red' } })).toBe('invalid')
  expect(await ann.refusal(search, { where: { surname: '--' } })).toBe('invalid')
  expect(await ann.refusal(search, { where: {} })).toBe('invalid')
})

test('nobody finds by a field what is above the clearance, nor what was forgotten', async () => {
  const where = { surname: 'Quillfeather' }
  const { entity: uid = '' } = (await add({ id: 's2', given_name: 'Ida', surname: 'Quillfeather' })) ?? {}
  expect(await bob.ok(cluster, { uid })).toMatchObject({ size: 1 })
  const visible = await waitUntil(async () => {
    const page = await bob.ok(search, { where })
    return page.total === 1 && page
  })
  expect(visible.items).toHaveLength(1)
  // Its label becomes stricter with an arrival of the same values.
  await add({ id: 's2', given_name: 'Ida', surname: 'Quillfeather' }, { classification: 'SECRET' })
  expect(await bob.ok(search, { where })).toMatchObject({ items: [], total: 0 })
  expect(await bob.refusal(cluster, { uid })).toBe('not_found')
  expect(await ann.ok(cluster, { uid })).toMatchObject({ size: 1, classification: { level: 'SECRET' } })
  expect((await ann.ok(search, { where })).total).toBe(1)
  await ann.ok(forget, { lens: 'people', node_id: 'south', record_id: 's2', reason: 'requested' })
  expect(await ann.ok(search, { where })).toMatchObject({ items: [], total: 0 })
})

test('the golden record has the value that survives by the lens, and the record that it is from', async () => {
  const [person] = buildStaff(12, 13)
  const added = await add({ ...person, id: 's12', surname: `${person?.surname}-Long`, phone: '030 99 1' })
  const { fields: survivors, size } = await ann.ok(golden, { uid: added?.entity ?? '' })
  expect(size).toBe(4)
  const of = (name: string) => survivors.find(({ field }) => field === name)
  expect(of('surname')).toMatchObject({ value: person?.surname, rule: 'most_frequent', records: 3, of: 4 })
  expect(of('phone')).toMatchObject({
    value: '030991',
    rule: 'newest',
    record: { record_id: 's12' },
    records: 1,
    of: 4,
  })
})

test('no value of a deleted entity is answered while its records have not left it', async () => {
  const where = { surname: 'Ravenscroft' }
  const { entity: uid = '' } = (await add({ id: 's3', given_name: 'Una', ...where, phone: '030 55 23' })) ?? {}
  expect(await ann.ok(search, { where })).toMatchObject({ items: [{ entity: uid }], total: 1 })
  const at = new Date(world().clock.now()).toISOString()
  // As the request leaves it, without the mark by which the worker finds it.
  await world()
    .store('resolution')
    .update(entityClusters, uid, ({ value }) => ({
      next: {
        ...{ ...value, state: 'deleted' as const, members: [], size: 0, former: value.members },
        ...{ deleted: { at, by: 'olga', reason: 'requested' }, forgotten: { at, by: 'olga', reason: 'requested' } },
      },
      answer: undefined,
    }))
  expect(await ann.ok(search, { where })).toMatchObject({ items: [], total: 0 })
  expect(await ann.ok(golden, { uid })).toMatchObject({ size: 0, fields: [] })
  expect(await ann.ok(records, { uid })).toMatchObject({ items: [], total: 0 })
  expect(await ann.ok(related, { uid, by: 'phone' })).toMatchObject({ entities: [], total: 0, common: [] })
})

test('entities that share a value are related, and a value that too many share only counts', async () => {
  const [other] = buildPeople(60, 61)
  const neighbour = await add({ ...other, id: 's60', phone: '030 55 21' })
  const [own] = (
    await ann.ok(search, { where: { phone: '030 55 21', surname: buildPeople(21, 22)[0]?.surname ?? '' } })
  ).items
  const answer = await ann.ok(related, { uid: own?.entity ?? '', by: 'phone,surname' })
  expect(answer).toMatchObject({
    entities: [{ entity: neighbour?.entity, size: 1, shared: [{ field: 'phone', value: '0305521', records: 1 }] }],
    ...{ total: 1, common: [], left_out: { records: 0, values: 0, sharing: 0 } },
  })
  expect(await ann.refusal(related, { uid: own?.entity ?? '', by: 'phone,colour' })).toBe('invalid')
  const records = buildPeople(1_000, 1_210).map((person) => ({ ...person, phone: '030 55 21' }))
  await ann.ok(arrive, { lens_id: 'people', node_id: 'mass', records })
  const busy = await waitUntil(async () => {
    const now = await ann.ok(related, { uid: own?.entity ?? '', by: 'phone' })
    return now.common.length > 0 && now
  })
  expect(busy).toMatchObject({ entities: [], common: [{ field: 'phone', value: '0305521', records: 214 }] })
})
