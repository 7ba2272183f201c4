// A snapshot of a registry leaves out the records of an entity from the request to delete it on.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { find } from '../../../daemon/roles/resolution/entity/find.ts'
import { entityClusters } from '../../../daemon/roles/resolution/entity-cluster/model.ts'
import { start } from '../../../daemon/roles/resolution/fusion-run/start.ts'
import { create } from '../../../daemon/roles/resolution/lens/create.ts'
import type { CheckedClient } from '../../support/http/checked-client.ts'
import { startTestSite, type TestSite } from '../../support/site/test-site.ts'
import { sharedClassification as classification, createPeerSite, type PeerSite } from '../consensus/peer-site.ts'
import { buildPeople, buildPersonLens, waitForRunEnd } from './resolution-site.ts'

let bravo: PeerSite
let world: TestSite
let ann: CheckedClient
beforeAll(async () => {
  bravo = await createPeerSite('bravo', 'tenant-b')
  const profile = { platform: { roles: ['site', 'resolution'] }, resolution: { port: 0 } }
  world = await startTestSite({ profile, peers: [bravo.pinned] })
  ann = await world.as()
  await ann.ok(create, { body: buildPersonLens(), classification })
  const node_data = { east: buildPeople(0, 40), west: buildPeople(10, 50), north: buildPeople(5, 30) }
  const { run_id } = await ann.ok(start, { lens_id: 'people', node_data, classification })
  expect(await waitForRunEnd(ann, run_id)).toMatchObject({ state: 'completed' })
})
afterAll(async () => {
  await world?.end()
  bravo?.remove()
})

async function exportPeople(): Promise<string> {
  const sent = { token: await world.token() }
  const body = { peer: 'bravo', lens_id: 'people' }
  const response = await world.call('resolution', 'POST', '/api/v2/registry/export', body, sent)
  expect(response.status).toBe(200)
  return response.text
}

test('no record of a deleted entity is in it while the records have not left the entity', async () => {
  const isInSnapshot = (text: string, number: number) => text.includes(String.raw`\"record_id\":\"p${number}\"`)
  const before = await exportPeople()
  expect([isInSnapshot(before, 12), isInSnapshot(before, 13)]).toEqual([true, true])
  const { uid } = await ann.ok(find, { lens: 'people', node_id: 'east', record_id: 'p12' })
  // As the request leaves it, without the mark by which the worker finds it.
  await world.store('resolution').update(entityClusters, uid, ({ value }) => ({
    next: { ...value, state: 'deleted' as const, members: [], size: 0, former: value.members },
    answer: undefined,
  }))
  const after = await exportPeople()
  expect([isInSnapshot(after, 12), isInSnapshot(after, 13)]).toEqual([false, true])
})
