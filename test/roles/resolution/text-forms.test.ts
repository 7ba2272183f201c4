// Values that an earlier release stored in another normal form of texts are not compared with new ones.
import { beforeAll, expect, test } from 'vitest'
import { create as arrive } from '../../../daemon/roles/resolution/arrival/create.ts'
import { lookup } from '../../../daemon/roles/resolution/entity/lookup.ts'
import { search } from '../../../daemon/roles/resolution/entity/search.ts'
import { entityRecords, recordUid } from '../../../daemon/roles/resolution/entity-record/model.ts'
import { start } from '../../../daemon/roles/resolution/fusion-run/start.ts'
import { create } from '../../../daemon/roles/resolution/lens/create.ts'
import type { CheckedClient } from '../../support/http/checked-client.ts'
import { buildPeople, buildPersonLens, setUpResolutionSite, waitForRunEnd } from './resolution-site.ts'

const world = setUpResolutionSite()
const lens = 'people'
const levi = { id: 'h1', given_name: 'לוי', surname: 'כהן', date_of_birth: '1950-01-11' }
const east = [...buildPeople(0, 30), levi]
let ann: CheckedClient

/** As an earlier release stored the record: without the form of its values. */
async function ageRecord(record_id: string) {
  const uid = recordUid('tenant-a', lens, { node_id: 'east', record_id })
  return await world()
    .store('resolution')
    .update(entityRecords, uid, ({ value: { text_form: _form, ...value } }) => ({ next: value, answer: undefined }))
}

async function run() {
  world().clock.advance(120_000)
  const { run_id } = await ann.ok(start, { lens_id: lens, node_data: { east, west: buildPeople(10, 40) } })
  expect(await waitForRunEnd(ann, run_id)).toMatchObject({ state: 'completed' })
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
