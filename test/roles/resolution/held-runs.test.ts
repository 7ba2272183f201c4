// A run of poor estimated quality changes no entity before a person accepts it, and none if it is cancelled.
import { expect, test } from 'vitest'
import { find } from '../../../daemon/roles/resolution/entity/find.ts'
import { list as clusters } from '../../../daemon/roles/resolution/entity-cluster/list.ts'
import { list as matches } from '../../../daemon/roles/resolution/entity-match/list.ts'
import { resolve } from '../../../daemon/roles/resolution/fusion/resolve.ts'
import { cancel } from '../../../daemon/roles/resolution/fusion-run/cancel.ts'
import { start } from '../../../daemon/roles/resolution/fusion-run/start.ts'
import { status } from '../../../daemon/roles/resolution/fusion-run/status.ts'
import { create } from '../../../daemon/roles/resolution/lens/create.ts'
import type { CheckedClient } from '../../support/http/checked-client.ts'
import { waitUntil } from '../../support/site/test-site.ts'
import { buildPeople, buildPersonLens, setUpResolutionSite, waitForRunEnd } from './resolution-site.ts'

const world = setUpResolutionSite()

const towns = ['Norwich Norfolk', 'Ipswich Suffolk', 'Colchester Essex', 'Cambridge Cambridgeshire', 'York Yorkshire']

/** Records that their fields do not tell apart. */
const places = Array.from({ length: 150 }, (_, row) => {
  const [town = '', county = ''] = towns[row % towns.length]?.split(' ') ?? []
  return { id: `r${row}`, town, county, area: `N${row % towns.length}` }
})

const buildPlaceLens = (lens: string) => ({
  ...{ lens, version: '1.0.0', entity_type: 'place', threshold: -10 },
  fields: ['town', 'county', 'area'].map((name) => ({ name, type: 'name' as const })),
})

/** The run, once it is held or has ended. */
const waitUntilHeld = (person: CheckedClient, run_id: string) =>
  waitUntil(async () => {
    const run = await person.ok(status, { run_id })
    return (run.held !== undefined || run.ended_at !== undefined) && run
  })

async function startPoorRun(person: CheckedClient, lens: string) {
  await person.ok(create, { body: buildPlaceLens(lens) })
  const { run_id } = await person.ok(start, { lens_id: lens, node_data: { gazetteer: places } })
  return await waitUntilHeld(person, run_id)
}

test('a poor run states its verdict and waits, and only who accepts it publishes its entities', async () => {
  const ann = await world().as()
  const run = await startPoorRun(ann, 'accepted')
  expect(run).toMatchObject({ state: 'matched', goal: 'matched', held: 'poor', quality: { verdict: 'poor' } })
  const { run_id } = run
  expect((await ann.ok(clusters, { run_id })).items).toEqual([])
  const record = { node_id: 'gazetteer', record_id: 'r1', lens: 'accepted' }
  expect(await ann.refusal(find, record)).toBe('not_found')
  expect((await ann.ok(matches, { run_id })).items.length).toBeGreaterThan(0)

  const refused = await ann.call(resolve, { run_id })
  expect(refused.problem).toMatchObject({ code: 'wrong_state', detail: expect.stringContaining('accept_poor') })
  const reader = await world().as({ subject: 'rita', roles: ['viewer'] })
  expect(await reader.refusal(resolve, { run_id, accept_poor: true })).toBe('forbidden')
  expect((await ann.ok(clusters, { run_id })).items).toEqual([])

  await ann.ok(resolve, { run_id, accept_poor: true })
  const completed = await waitForRunEnd(ann, run_id)
  expect(completed).toMatchObject({ state: 'completed', accept_poor: true, quality: { verdict: 'poor' } })
  expect(completed.held).toBeUndefined()
  expect((await ann.ok(clusters, { run_id })).items.length).toBe(completed.counts.clusters)
})

test('a poor run that is cancelled leaves nothing in the registry', async () => {
  const ann = await world().as()
  const { run_id } = await startPoorRun(ann, 'cancelled')
  expect(await ann.ok(cancel, { run_id })).toMatchObject({ state: 'cancelled' })
  expect((await ann.ok(clusters, { run_id })).items).toEqual([])
  expect((await ann.ok(clusters, { lens: 'cancelled' })).items).toEqual([])
})

test('another threshold is judged anew', async () => {
  const ann = await world().as()
  const { run_id } = await startPoorRun(ann, 'retried')
  await ann.ok(resolve, { run_id, threshold: -9 })
  expect(await waitUntilHeld(ann, run_id)).toMatchObject({ state: 'matched', threshold: -9, held: 'poor' })
})

test('a request can accept a poor result beforehand', async () => {
  const ann = await world().as()
  await ann.ok(create, { body: buildPlaceLens('beforehand') })
  const input = { lens_id: 'beforehand', node_data: { gazetteer: places }, accept_poor: true }
  const { run_id } = await ann.ok(start, input)
  const run = await waitForRunEnd(ann, run_id)
  expect(run).toMatchObject({ state: 'completed', quality: { verdict: 'poor' }, accept_poor: true })
  expect((await ann.ok(clusters, { run_id })).items.length).toBeGreaterThan(0)
})

test('a run without a link does not split the entities of the run before it by itself', async () => {
  const ann = await world().as()
  await ann.ok(create, { body: buildPersonLens() })
  const people = { east: buildPeople(0, 30), west: buildPeople(10, 40) }
  const first = await ann.ok(start, { lens_id: 'people', node_data: people })
  expect(await waitForRunEnd(ann, first.run_id)).toMatchObject({ state: 'completed', counts: { clusters: 20 } })

  // New people alone have nothing to lose.
  const added = await ann.ok(start, { lens_id: 'people', node_data: { north: buildPeople(500, 502) } })
  expect(await waitUntilHeld(ann, added.run_id)).toMatchObject({ state: 'completed', counts: { clusters: 0 } })

  const { run_id } = await ann.ok(start, { lens_id: 'people', node_data: { west: buildPeople(10, 14) } })
  expect(await waitUntilHeld(ann, run_id)).toMatchObject({ state: 'matched', held: 'no_links' })
  const { items } = await ann.ok(clusters, { lens: 'people', limit: 500 })
  expect(items.filter(({ size }) => size === 2)).toHaveLength(20)
})
