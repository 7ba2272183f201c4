// A lookup misses no record, in any order of begin and end of writes: also one stamped earlier and written later.
import { beforeAll, expect, test } from 'vitest'
import { serviceCaller } from '../../../daemon/kernel/identity/admit-caller.ts'
import type { Call } from '../../../daemon/kernel/operation/call.ts'
import { scopedStore } from '../../../daemon/kernel/store/scoped-store.ts'
import type { Collection, StoredFields } from '../../../daemon/kernel/store/store.ts'
import { create as arrive } from '../../../daemon/roles/resolution/arrival/create.ts'
import { lookup } from '../../../daemon/roles/resolution/entity/lookup.ts'
import { clusterUid, entityClusters } from '../../../daemon/roles/resolution/entity-cluster/model.ts'
import { entityRecords, recordUid } from '../../../daemon/roles/resolution/entity-record/model.ts'
import { writeNumbered } from '../../../daemon/roles/resolution/entity-record/write-numbered.ts'
import { start } from '../../../daemon/roles/resolution/fusion-run/start.ts'
import { create } from '../../../daemon/roles/resolution/lens/create.ts'
import { lensUid } from '../../../daemon/roles/resolution/lens/stored-lens.ts'
import type { CheckedClient } from '../../support/http/checked-client.ts'
import { buildPeople, buildPersonLens, setUpResolutionSite, waitForRunEnd } from './resolution-site.ts'
import { registryLabel } from './seed-registry.ts'

const world = setUpResolutionSite()
const registryScope = { tenant_id: 'tenant-a', lens: 'people' }
let ann: CheckedClient
let run_id: string
beforeAll(async () => {
  ann = await world().as()
  await ann.ok(create, { body: buildPersonLens() })
  const lists = { east: buildPeople(0, 30), west: buildPeople(10, 40) }
  run_id = (await ann.ok(start, { lens_id: 'people', node_data: lists })).run_id
  expect(await waitForRunEnd(ann, run_id)).toMatchObject({ state: 'completed' })
})

/** As a worker of the role writes. */
function createWorkerCall(now: () => number): Call {
  const labels = { policy: 'SITE', levels: ['UNCLASSIFIED'] }
  const scope = { caller: serviceCaller('resolution'), labels, if_match: undefined, onRefusal: () => undefined }
  const store = <T extends StoredFields>(of: Collection<T>) => scopedStore(world().store('resolution'), of, scope)
  return { now, store } as unknown as Call
}

function describePerson(number: number): Record<string, string> {
  const { id: _id, ...values } = buildPeople(number, number + 1)[0] ?? { id: '' }
  return Object.fromEntries(Object.entries(values).map(([field, value]) => [field, value.toLowerCase()]))
}

async function writeRecord(number: number, written: number, updated_at: string): Promise<void> {
  const { tenant_id, lens } = registryScope
  const ref = { node_id: 'late', record_id: `l${number}` }
  const [base, entity] = [recordUid(tenant_id, lens, ref), clusterUid(tenant_id, lens, ref)]
  const of = { lens, lens_id: lensUid(tenant_id, lens, '1.0.0'), lens_version: '1.0.0', entity_type: 'person' }
  const common = { tenant_id, label: registryLabel, run_id, updated_at }
  await world()
    .store('resolution')
    .create(entityClusters, entity, {
      ...{ ...common, ...of, state: 'live', members: [ref], size: 1, lineage: { merged_from: [] } },
      created_at: updated_at,
    })
  const values = {
    ...describePerson(number),
    date_of_birth: describePerson(number).date_of_birth?.replaceAll('-', '') ?? '',
  }
  await world()
    .store('resolution')
    .create(entityRecords, base, { ...common, lens, ref, values, base, entity, written })
}

/** The nodes of all records that are like that of this person. */
async function lookUpNodes(number: number): Promise<string[]> {
  const { entities } = await ann.ok(lookup, { record: describePerson(number) })
  return entities.filter(({ above_cut }) => above_cut).map(({ record }) => record.node_id)
}

test('reads a write that began earlier and ends later, after any writes and reads in between', async () => {
  const { clock } = world()
  const [earlier, stamp] = [createWorkerCall(() => clock.now()), new Date(clock.now()).toISOString()]
  let end: () => void = () => undefined
  const ending = new Promise<void>((resolve) => {
    end = resolve
  })
  const slow = writeNumbered(earlier, registryScope, async (written) => {
    await ending
    await writeRecord(77, written, stamp)
  })
  clock.advance(1_000)
  await ann.ok(arrive, { node_id: 'south', records: [{ ...describePerson(88), id: 's88' }] as never })
  expect(await lookUpNodes(88)).toEqual(['south'])
  expect(await lookUpNodes(77)).toEqual([])
  end()
  await slow
  expect(await lookUpNodes(77)).toEqual(['late'])
  expect(await lookUpNodes(88)).toEqual(['south'])
})

test('a vanished writer delays nothing, and its records are read', async () => {
  const { clock } = world()
  const call = createWorkerCall(() => clock.now())
  const died = writeNumbered(call, registryScope, async (written) => {
    await writeRecord(79, written, new Date(clock.now()).toISOString())
    throw new Error('the process ends here')
  })
  await expect(died).rejects.toThrow('ends here')
  expect(await lookUpNodes(79)).toEqual(['late'])
  clock.advance(3_600_000)
  await writeNumbered(call, registryScope, (written) => writeRecord(80, written, new Date(clock.now()).toISOString()))
  expect(await lookUpNodes(80)).toEqual(['late'])
})
