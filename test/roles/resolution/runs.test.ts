// Runs: from records to clusters by the service, at once and phase by phase.
import { expect, test } from 'vitest'
import { list as clusters } from '../../../daemon/roles/resolution/entity-cluster/list.ts'
import { list as matches } from '../../../daemon/roles/resolution/entity-match/list.ts'
import { extract } from '../../../daemon/roles/resolution/fusion/extract.ts'
import { match } from '../../../daemon/roles/resolution/fusion/match.ts'
import { resolve } from '../../../daemon/roles/resolution/fusion/resolve.ts'
import { cancel } from '../../../daemon/roles/resolution/fusion-run/cancel.ts'
import { start } from '../../../daemon/roles/resolution/fusion-run/start.ts'
import { create } from '../../../daemon/roles/resolution/lens/create.ts'
import { list as bindings } from '../../../daemon/roles/resolution/lens-binding/list.ts'
import { buildPeople, buildPersonLens, setUpResolutionSite, waitForRunEnd } from './resolution-site.ts'

const world = setUpResolutionSite()

test('a run finds who is who among the records of two nodes', async () => {
  const ann = await world().as()
  await ann.ok(create, { body: buildPersonLens('1.0.0') })
  const begun = await ann.ok(start, {
    lens_id: 'people',
    node_data: { east: buildPeople(0, 60), west: buildPeople(30, 90) },
  })
  expect(begun).toMatchObject({ state: 'pending', goal: 'completed', lens_version: '1.0.0', created_by: 'ann' })
  const run = await waitForRunEnd(ann, begun.run_id)
  expect(run).toMatchObject({
    state: 'completed',
    route: 'links',
    scale: 'log_odds',
    counts: { records: 120, entities: 90, clusters: 30, clustered: 60 },
  })
  expect(run.sources).toMatchObject([
    {
      node_id: 'east',
      records: 60,
      columns: { given_name: 'given_name', surname: 'surname', date_of_birth: 'date_of_birth' },
    },
    { node_id: 'west', records: 60 },
  ])
  const { items } = await ann.ok(clusters, { run_id: run.uid, limit: 500 })
  expect(items).toHaveLength(30)
  const found = await ann.ok(matches, { run_id: run.uid, limit: 500 })
  expect(found.items.filter(({ linked }) => linked)).toHaveLength(30)
  expect(found.items.length).toBe(run.counts.matches)
})

test('phase by phase it comes to the same', async () => {
  const ann = await world().as()
  const { run_id } = await ann.ok(extract, {
    lens_id: 'people',
    node_data: { east: buildPeople(0, 60), west: buildPeople(30, 90) },
  })
  const matched = await ann.ok(match, { run_id })
  expect(matched.run.state).toBe('matched')
  expect(matched.items.length).toBeGreaterThan(29)
  const resolved = await ann.ok(resolve, { run_id })
  expect(resolved.run).toMatchObject({ state: 'completed', counts: { entities: 90, clusters: 30 } })
  expect(resolved.items).toHaveLength(30)
  expect(await ann.refusal(cancel, { run_id })).toBe('wrong_state')
})

test('the columns that a run reads of a node are visible to every reader of the run', async () => {
  const ann = await world().as()
  const low = await world().as({ subject: 'low', clearance: { level: 'UNCLASSIFIED' } })
  await ann.ok(create, { body: { ...buildPersonLens(), lens: 'shared' }, classification: 'UNCLASSIFIED' })
  const input = { lens_id: 'shared', node_data: { hidden: buildPeople(0, 20) }, classification: 'SECRET' }
  const { run_id } = await ann.ok(start, input)
  await waitForRunEnd(ann, run_id)
  const query = { lens: 'shared', dataset: 'hidden' }
  expect((await ann.ok(bindings, query)).items).toMatchObject([{ run_id, classification: { level: 'SECRET' } }])
  expect((await low.ok(bindings, query)).items).toEqual([])
})
