// A lookup misses no record, in whatever order writes begin and end: not those either that were stamped earlier and written later.
import { beforeAll, expect, test } from 'vitest'
import { serviceCaller } from '../../../daemon/kernel/admission.ts'
import type { Call } from '../../../daemon/kernel/call.ts'
import { scopedStore } from '../../../daemon/kernel/scoped-store.ts'
import type { Collection, Stored } from '../../../daemon/kernel/store.ts'
import { create as arrive } from '../../../daemon/roles/resolution/arrival/create.ts'
import { clusterUid, entityClusters } from '../../../daemon/roles/resolution/entity-cluster/model.ts'
import { entityRecords, recordUid } from '../../../daemon/roles/resolution/entity-record/model.ts'
import { start } from '../../../daemon/roles/resolution/fusion-run/start.ts'
import { create } from '../../../daemon/roles/resolution/lens/create.ts'
import { lensUid } from '../../../daemon/roles/resolution/lens/stored.ts'
import { lookup } from '../../../daemon/roles/resolution/lookup/lookup.ts'
import { writing } from '../../../daemon/roles/resolution/registry/writing.ts'
import type { Person } from '../../support/person.ts'
import { label } from './registry-world.ts'
import { ended, peopleOf, personLens, sharedResolution } from './resolution-world.ts'

const world = sharedResolution()
const whose = { tenant_id: 'tenant-a', lens: 'people' }
let ann: Person
let run_id: string
beforeAll(async () => {
  ann = await world().as()
  await ann.ok(create, { body: personLens() })
  const lists = { east: peopleOf(0, 30), west: peopleOf(10, 40) }
  run_id = (await ann.ok(start, { lens_id: 'people', node_data: lists })).run_id
  expect(await ended(ann, run_id)).toMatchObject({ state: 'completed' })
})

/** As a worker of the role writes. */
function serving(now: () => number): Call {
  const labels = { policy: 'SITE', levels: ['UNCLASSIFIED'] }
  const scope = { caller: serviceCaller('resolution'), labels, if_match: undefined, refusedOn: () => undefined }
  const store = <T extends Stored>(of: Collection<T>) => scopedStore(world().store('resolution'), of, scope)
  return { now, store } as unknown as Call
}

function said(number: number): Record<string, string> {
  const { id: _id, ...values } = peopleOf(number, number + 1)[0] ?? { id: '' }
  return Object.fromEntries(Object.entries(values).map(([field, value]) => [field, value.toLowerCase()]))
}

async function write(number: number, written: number, updated_at: string): Promise<void> {
  const { tenant_id, lens } = whose
  const ref = { node_id: 'late', record_id: `l${number}` }
  const [base, entity] = [recordUid(tenant_id, lens, ref), clusterUid(tenant_id, lens, ref)]
  const of = { lens, lens_id: lensUid(tenant_id, lens, '1.0.0'), lens_version: '1.0.0', entity_type: 'person' }
  const common = { tenant_id, label, run_id, updated_at }
  await world()
    .store('resolution')
    .create(entityClusters, entity, {
      ...{ ...common, ...of, state: 'live', members: [ref], size: 1, lineage: { merged_from: [] } },
      created_at: updated_at,
    })
  const values = { ...said(number), date_of_birth: said(number).date_of_birth?.replaceAll('-', '') ?? '' }
  await world()
    .store('resolution')
    .create(entityRecords, base, { ...common, lens, ref, values, base, entity, written })
}

/** The nodes of all records that are like that of this person. */
async function nodesFor(number: number): Promise<string[]> {
  const { entities } = await ann.ok(lookup, { record: said(number) })
  return entities.filter(({ above_cut }) => above_cut).map(({ record }) => record.node_id)
}

test('a write that began earlier and ends later is read, whatever came and was read in between', async () => {
  const { clock } = world()
  const [earlier, stamp] = [serving(() => clock.now()), new Date(clock.now()).toISOString()]
  let end: () => void = () => undefined
  const ending = new Promise<void>((resolve) => {
    end = resolve
  })
  const slow = writing(earlier, whose, async (written) => {
    await ending
    await write(77, written, stamp)
  })
  clock.advance(1_000)
  await ann.ok(arrive, { node_id: 'south', records: [{ ...said(88), id: 's88' }] as never })
  expect(await nodesFor(88)).toEqual(['south'])
  expect(await nodesFor(77)).toEqual([])
  end()
  await slow
  expect(await nodesFor(77)).toEqual(['late'])
  expect(await nodesFor(88)).toEqual(['south'])
})

test('a writer that is no more holds nothing up, and what it left is read', async () => {
  const { clock } = world()
  const call = serving(() => clock.now())
  const died = writing(call, whose, async (written) => {
    await write(79, written, new Date(clock.now()).toISOString())
    throw new Error('the process ends here')
  })
  await expect(died).rejects.toThrow('ends here')
  expect(await nodesFor(79)).toEqual(['late'])
  clock.advance(3_600_000)
  await writing(call, whose, (written) => write(80, written, new Date(clock.now()).toISOString()))
  expect(await nodesFor(80)).toEqual(['late'])
})
