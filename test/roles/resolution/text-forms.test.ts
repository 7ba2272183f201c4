// Values that an earlier release stored in another normal form of texts are not compared with new ones.
import { beforeAll, expect, test } from 'vitest'
import { create as arrive } from '../../../daemon/roles/resolution/arrival/create.ts'
import { lookup } from '../../../daemon/roles/resolution/entity/lookup.ts'
import { search } from '../../../daemon/roles/resolution/entity/search.ts'
import { entityRecords, recordUid, type StoredRecord } from '../../../daemon/roles/resolution/entity-record/model.ts'
import { registryHeads } from '../../../daemon/roles/resolution/entity-record/write-numbered.ts'
import { start } from '../../../daemon/roles/resolution/fusion-run/start.ts'
import { summary } from '../../../daemon/roles/resolution/fusion-run/summary.ts'
import { create } from '../../../daemon/roles/resolution/lens/create.ts'
import type { CheckedClient } from '../../support/http/checked-client.ts'
import { buildPeople, buildPersonLens, setUpResolutionSite, waitForRunEnd } from './resolution-site.ts'

const world = setUpResolutionSite()
const lens = 'people'
const levi = { id: 'h1', given_name: 'לוי', surname: 'כהן', date_of_birth: '1950-01-11' }
const east = [...buildPeople(0, 30), levi]
let ann: CheckedClient

/** As an earlier release stored the record: without the form of its values. */
async function ageRecord(record_id: string, aged: Partial<StoredRecord> = {}) {
  const uid = recordUid('tenant-a', lens, { node_id: 'east', record_id })
  const updated = await world()
    .store('resolution')
    .update(entityRecords, uid, ({ value: { text_form: _form, ...value } }) => ({
      next: { ...value, ...aged },
      answer: undefined,
    }))
  if (updated === 'missing') throw new Error(`no run stored ${record_id}`)
  return updated.doc.value
}

async function run(records: readonly (typeof levi)[] = east) {
  world().clock.advance(120_000)
  const node_data = { east: [...records], west: buildPeople(10, 40) }
  const { run_id } = await ann.ok(start, { lens_id: lens, node_data })
  const ended = await waitForRunEnd(ann, run_id)
  expect(ended).toMatchObject({ state: 'completed' })
  return ended
}

beforeAll(async () => {
  ann = await world().as({ roles: ['operator'] })
  await ann.ok(create, { body: buildPersonLens() })
  await run()
})

test('records of Latin letters have no form, since they are equal in any', async () => {
  await ageRecord('p1')
  const where = { surname: buildPeople(1, 2)[0]?.surname ?? '' }
  expect((await ann.ok(search, { lens_id: lens, where })).items).toMatchObject([{ record: { record_id: 'p1' } }])
  expect((await ann.ok(search, { lens_id: lens, where: { surname: 'כהן' } })).items).toHaveLength(1)
})

test('a registry with values of another form is not searched, and a further run makes it right', async () => {
  await ageRecord('h1')
  // An index that a caller of another clearance loads anew, as every index is after an update.
  const bob = await world().as({ subject: 'bob', clearance: { level: 'SECRET', categories: ['X'] } })
  const refused = await bob.call(search, { lens_id: lens, where: { surname: 'כהן' } })
  expect(refused.problem).toMatchObject({
    code: 'wrong_state',
    detail: expect.stringMatching(/east\/h1: start a run of the lens over all its data/),
  })
  const { id: _id, ...record } = levi
  expect(await bob.refusal(lookup, { lens_id: lens, record })).toBe('wrong_state')
  await run()
  // A refusal is kept for a minute, so that an index that cannot be loaded is not read for each call.
  const cleared = await world().as({ subject: 'carl', clearance: { level: 'SECRET', categories: ['Y'] } })
  expect((await cleared.ok(search, { lens_id: lens, where: { surname: 'כהן' } })).items).toHaveLength(1)
})

test('a record that is sent again gets the form, also with equal values', async () => {
  await ageRecord('h1')
  const { items } = await ann.ok(arrive, { lens_id: lens, node_id: 'east', records: [levi] })
  expect(items).toMatchObject([{ record_id: 'h1', outcome: 'unchanged' }])
  const uid = recordUid('tenant-a', lens, { node_id: 'east', record_id: 'h1' })
  expect((await world().store('resolution').get(entityRecords, uid))?.value.text_form).toBe(2)
})

test('an arrival that finds such values does not name a record that its sender may not see', async () => {
  const store = world().store('resolution')
  const [from, hidden] = ['h1', 'hidden-1'].map((record_id) =>
    recordUid('tenant-a', lens, { node_id: 'east', record_id }),
  )
  const stored = await store.get(entityRecords, from ?? '')
  if (!stored) throw new Error('the run stored no record')
  const { text_form: _form, ...value } = stored.value
  const ref = { node_id: 'east', record_id: 'hidden-1' }
  const label = { ...value.label, level: 'SECRET' }
  await store.create(entityRecords, hidden ?? '', { ...value, ref, label, written: Number.MAX_SAFE_INTEGER })
  const [stranger] = buildPeople(900, 901)
  const arrival = await ann.ok(arrive, { lens_id: lens, node_id: 'east', records: [{ ...stranger, id: 'n1' }] })
  expect(arrival).toMatchObject({
    state: 'failed',
    failure: { reason: expect.stringContaining('earlier normal form') },
  })
  expect(JSON.stringify(arrival)).not.toContain('hidden-1')
})

/** As after an update: no run of this version has looked at the whole registry. */
async function ageRegistry() {
  const store = world().store('resolution')
  const { docs } = await store.list(registryHeads, { filter: {}, limit: 10, fresh: true })
  for (const { id } of docs)
    await store.update(registryHeads, id, ({ value: { text_form: _form, ...value } }) => ({
      next: value,
      answer: undefined,
    }))
}

test('a record that no source has any more gets the form with the next run, keeps its entity, and is reported', async () => {
  const store = world().store('resolution')
  await store.remove(entityRecords, recordUid('tenant-a', lens, { node_id: 'east', record_id: 'hidden-1' }))
  const gone = { ...levi, id: 'gone-1', surname: 'حسنى' }
  const secret = { ...levi, id: 'gone-2', surname: 'حسنى' }
  await run([...east, gone, secret])
  const values = { given_name: 'منى', surname: 'حسنى', date_of_birth: '19500111' }
  const before = await ageRecord('gone-1', { values })
  await ageRecord('gone-2', { values, label: { ...before.label, level: 'SECRET' } })
  await ageRegistry()
  const ended = await run()
  // The other one is above the label of the run: not everybody who sees the run may know of it.
  expect(ended.left_out).toEqual([{ what: 'reformed_records', count: 1, limit: 0 }])
  expect((await ann.ok(summary, { run_id: ended.uid })).text).toContain('1 record of the registry that no source has')
  for (const record_id of ['gone-1', 'gone-2']) {
    const doc = await store.get(entityRecords, recordUid('tenant-a', lens, { node_id: 'east', record_id }))
    expect(doc?.value).toMatchObject({ values: { ...values, given_name: 'مني', surname: 'حسني' }, text_form: 2 })
  }
  const uid = recordUid('tenant-a', lens, { node_id: 'east', record_id: 'gone-1' })
  expect((await store.get(entityRecords, uid))?.value.entity).toBe(before.entity)
  const dora = await world().as({ subject: 'dora', clearance: { level: 'SECRET', categories: ['Z'] } })
  const { items } = await dora.ok(search, { lens_id: lens, where: { surname: 'حسنى' } })
  expect(items.map(({ record }) => record.record_id).sort()).toEqual(['gone-1', 'gone-2'])
  expect((await run()).left_out).toBeUndefined()
})
