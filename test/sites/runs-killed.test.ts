// A run of entity resolution outlives the death of its process, whenever that comes: what it writes in the end is what a run
// writes that nothing happened to.
import * as fs from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { list as clusters } from '../../daemon/roles/resolution/entity-cluster/list.ts'
import { list as matches } from '../../daemon/roles/resolution/entity-match/list.ts'
import { list as runs } from '../../daemon/roles/resolution/fusion-run/list.ts'
import { start } from '../../daemon/roles/resolution/fusion-run/start.ts'
import { status } from '../../daemon/roles/resolution/fusion-run/status.ts'
import { create } from '../../daemon/roles/resolution/lens/create.ts'
import { buildPeople, buildPersonLens } from '../roles/resolution/resolution-site.ts'
import type { CheckedClient } from '../support/http/checked-client.ts'
import {
  createPackagedFederation,
  type FederatedSite,
  type PackagedFederation,
} from '../support/site/packaged-federation.ts'
import { waitUntil } from '../support/site/test-site.ts'

const roles = ['site', 'resolution']
const node_data = { east: buildPeople(0, 60), west: buildPeople(30, 90) }

let world: PackagedFederation
let alpha: FederatedSite
let ann: CheckedClient
let undisturbedResult: unknown
beforeAll(async () => {
  world = await createPackagedFederation('alpha')
  alpha = world.sites.alpha as FederatedSite
  const profile = path.join(alpha.dir, 'profile.yaml')
  fs.writeFileSync(profile, fs.readFileSync(profile, 'utf8').replace('[site, consensus]', '[site, resolution]'))
  const daemon = await alpha.start(...roles)
  ann = await alpha.as('ann', ['analyst'])
  await ann.ok(create, { body: buildPersonLens() })
  const { run_id } = await ann.ok(start, { lens_id: 'people', node_data })
  undisturbedResult = await readRunResult(run_id)
  await daemon.kill()
})
afterAll(() => world?.end())

/** The results of the run, once it is through, without the run's id and the times. */
async function readRunResult(run_id: string) {
  const run = await waitUntil(async () => {
    const seen = await ann.ok(status, { run_id })
    return ['completed', 'failed'].includes(seen.state) && seen
  })
  const all = async (of: typeof matches | typeof clusters) => {
    const items: object[] = []
    let cursor: string | undefined
    do {
      const page = await ann.ok(of as typeof matches, { run_id, limit: 500, cursor })
      items.push(...page.items)
      cursor = page.next_cursor
    } while (cursor)
    return items.map((item) => ({ ...item, run_id: '', created_at: '', updated_at: '', version: 0 }))
  }
  const found = { matches: await all(matches), clusters: await all(clusters) }
  expect(found.clusters).toHaveLength(30)
  return { state: run.state, counts: run.counts, ...found }
}

describe.each(['run-extracted', 'run-matched', 'run-resolved', 'run-publishing'])('killed at %s', (point) => {
  test('it is taken up again, and comes to the same', async () => {
    const dying = await alpha.startUntil(point)
    const { run_id } = await ann.ok(start, { lens_id: 'people', node_data })
    await waitUntil(() => dying.hasEnded())
    await expect.poll(() => dying.log()).toContain(`fault point ${point}`)
    const daemon = await alpha.start(...roles)
    expect(await readRunResult(run_id)).toEqual(undisturbedResult)
    await daemon.kill()
  })
})

test('killed in the middle of a phase, it is begun again', async () => {
  const daemon = await alpha.start(...roles)
  const { run_id } = await ann.ok(start, { lens_id: 'people', node_data })
  await waitUntil(async () => (await ann.ok(status, { run_id })).state !== 'pending')
  await daemon.kill()
  const again = await alpha.start(...roles)
  expect(await readRunResult(run_id)).toEqual(undisturbedResult)
  await again.kill()
})

test('killed before the request was answered, nothing of it stays', async () => {
  const dying = await alpha.startUntil('run-kept')
  await expect(ann.ok(start, { lens_id: 'people', node_data })).rejects.toThrow()
  await waitUntil(() => dying.hasEnded())
  const folder = path.join(alpha.dir, 'data/resolution/runs')
  const before = fs.readdirSync(folder)
  const daemon = await alpha.start(...roles)
  const known = (await ann.ok(runs, { limit: 500 })).items.map(({ uid }) => uid)
  expect(before.filter((run) => !known.includes(run))).toHaveLength(1)
  await waitUntil(() => fs.readdirSync(folder).every((run) => known.includes(run)))
  await daemon.kill()
})
