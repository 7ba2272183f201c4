// From the request to delete an entity on no values of its records are answered, also to a caller who may not see the entity.
import { beforeAll, expect, test } from 'vitest'
import { create as arrive } from '../../../daemon/roles/resolution/arrival/create.ts'
import { search } from '../../../daemon/roles/resolution/entity/search.ts'
import { get as cluster } from '../../../daemon/roles/resolution/entity-cluster/get.ts'
import { entityClusters } from '../../../daemon/roles/resolution/entity-cluster/model.ts'
import { remove } from '../../../daemon/roles/resolution/entity-cluster/remove.ts'
import { explain } from '../../../daemon/roles/resolution/entity-match/explain.ts'
import { matchUid } from '../../../daemon/roles/resolution/entity-match/model.ts'
import { entityRecords, recordUid } from '../../../daemon/roles/resolution/entity-record/model.ts'
import { fusionRuns, type StoredRun } from '../../../daemon/roles/resolution/fusion-run/model.ts'
import { start } from '../../../daemon/roles/resolution/fusion-run/start.ts'
import { create } from '../../../daemon/roles/resolution/lens/create.ts'
import { entityRemovals } from '../../../daemon/roles/resolution/withdrawal/entity-removal.ts'
import type { CheckedClient } from '../../support/http/checked-client.ts'
import { waitUntil } from '../../support/site/test-site.ts'
import { buildPeople, buildPersonLens, setUpResolutionSite, waitForRunEnd } from './resolution-site.ts'

const world = setUpResolutionSite()
const tenant_id = 'tenant-a'
const lens = 'people'
let olga: CheckedClient
let bob: CheckedClient
let run_id: string
beforeAll(async () => {
  olga = await world().as({ subject: 'olga', roles: ['operator'] })
  bob = await world().as({ subject: 'bob', clearance: { level: 'UNCLASSIFIED' } })
  await olga.ok(create, { body: buildPersonLens() })
  const node_data = { east: buildPeople(0, 40), west: buildPeople(10, 50), north: buildPeople(5, 30) }
  run_id = (await olga.ok(start, { lens_id: lens, node_data })).run_id
  expect(await waitForRunEnd(olga, run_id)).toMatchObject({ state: 'completed' })
})

const store = () => world().store('resolution')

/** A run that olga may not see writes the registry until `resume`, so that deletions wait. */
async function holdRegistry(): Promise<() => Promise<void>> {
  const run = await store().get(fusionRuns, run_id)
  if (!run) throw new Error(`there is no run ${run_id}`)
  const label = { ...run.value.label, level: 'TOP SECRET' }
  const held: StoredRun = { ...run.value, label, state: 'resolving' }
  await store().create(fusionRuns, 'run_hold', held)
  return async () => {
    await store().remove(fusionRuns, 'run_hold')
    world().wakeWorker('resolution', 'recluster')
  }
}

async function add(record: object, classification = 'UNCLASSIFIED') {
  world().clock.advance(1_000)
  const input = { lens_id: lens, node_id: 'south', records: [record], classification }
  const { items } = await olga.ok(arrive, input as never)
  return items[0]
}

const countFound = async (person: CheckedClient, surname: string) =>
  (await person.ok(search, { where: { surname } })).total

test('a record is not found from the deletion of its entity on, whoever may see the entity', async () => {
  const [person] = buildPeople(70, 71)
  const surname = person?.surname ?? ''
  await add({ ...person, id: 's1' })
  const { entity: uid = '' } = (await add({ ...person, id: 's2' }, 'SECRET')) ?? {}
  expect(await olga.ok(cluster, { uid })).toMatchObject({ size: 2 })
  expect(await bob.refusal(cluster, { uid })).toBe('not_found')
  expect([await countFound(bob, surname), await countFound(olga, surname)]).toEqual([1, 2])
  const ref = (record_id: string) => ({ node_id: 'south', record_id })
  const pair = { correlation_id: matchUid(tenant_id, lens, ref('s1'), ref('s2')) }
  const shownValues = async () => (await olga.ok(explain, pair)).text.includes(surname)
  expect(await shownValues()).toBe(true)

  const resume = await holdRegistry()
  const removed = olga.ok(remove, { uid, reason: 'test data' })
  await waitUntil(async () => (await store().get(entityRemovals, uid)) !== undefined)
  expect(await olga.ok(cluster, { uid })).toMatchObject({ state: 'deleted' })
  const record = await store().get(entityRecords, recordUid(tenant_id, lens, ref('s1')))
  expect(record?.value).toMatchObject({ entity: uid, values: { surname } })
  expect(record?.value).not.toHaveProperty('withdrawn')
  expect([await countFound(bob, surname), await countFound(olga, surname)]).toEqual([0, 0])
  expect(await shownValues()).toBe(false)

  await resume()
  await removed
  await waitUntil(async () => (await store().get(entityRemovals, uid)) === undefined)
  expect([await countFound(bob, surname), await countFound(olga, surname)]).toEqual([0, 0])
  const arrived = await add({ ...buildPeople(71, 72)[0], id: 's1' })
  expect(arrived).toMatchObject({ outcome: 'replaced' })
  expect(await countFound(bob, buildPeople(71, 72)[0]?.surname ?? '')).toBe(1)
})

test('a deletion whose note was lost in a crash is noted again, while its records wait', async () => {
  const [person] = buildPeople(80, 81)
  const surname = person?.surname ?? ''
  await add({ ...person, id: 's3' })
  const { entity: uid = '' } = (await add({ ...person, id: 's4' }, 'SECRET')) ?? {}
  const resume = await holdRegistry()
  const removal = { at: new Date(world().clock.now()).toISOString(), by: 'olga', reason: 'test data' }
  // The first of the two writes of a request.
  await store().update(entityClusters, uid, ({ value }) => ({
    next: {
      ...{ ...value, state: 'deleted' as const, members: [], size: 0, former: value.members },
      ...{ deleted: removal, removing: 1 as const },
    },
    answer: undefined,
  }))
  world().wakeWorker('resolution', 'recluster')
  await waitUntil(async () => (await countFound(bob, surname)) === 0)
  const record = await store().get(entityRecords, recordUid(tenant_id, lens, { node_id: 'south', record_id: 's3' }))
  expect(record?.value).not.toHaveProperty('withdrawn')
  await resume()
  await waitUntil(async () => (await store().get(entityRemovals, uid)) === undefined)
})
