// A run of entity resolution outlives the death of its process, whenever that comes: what it writes in the end is what a run
// writes that nothing happened to.
import * as fs from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { list as clusters } from '../../daemon/roles/resolution/entity-cluster/list.ts'
import { list as matches } from '../../daemon/roles/resolution/entity-match/list.ts'
import { list as runs } from '../../daemon/roles/resolution/fusion-run/list.ts'
import { start } from '../../daemon/roles/resolution/fusion-run/start.ts'
import { status } from '../../daemon/roles/resolution/fusion-run/status.ts'
import { create } from '../../daemon/roles/resolution/lens/create.ts'
import { buildPeople, buildPersonLens } from '../roles/resolution/resolution-site.ts'
import type { CheckedClient } from '../support/http/checked-client.ts'
import {
  copyPackagedFederation,
  createPackagedFederation,
  type FederatedSite,
  findSite,
  type PackagedFederation,
} from '../support/site/packaged-federation.ts'
import { waitUntil } from '../support/site/test-site.ts'

const roles = ['site', 'resolution']
const node_data = { east: buildPeople(0, 60), west: buildPeople(30, 90) }

/** Each death has a copy, so that all wait for the leases of the dead at once. */
let pattern: PackagedFederation
const worlds: PackagedFederation[] = []
let undisturbedResult: unknown
beforeAll(async () => {
  pattern = await createPackagedFederation('alpha')
  worlds.push(pattern)
  const site = findSite(pattern, 'alpha')
  const profile = path.join(site.dir, 'profile.yaml')
  fs.writeFileSync(profile, fs.readFileSync(profile, 'utf8').replace('[site, consensus]', '[site, resolution]'))
  const { site: undisturbed, ann } = await copySite()
  await undisturbed.start(...roles)
  undisturbedResult = await readRunResult(ann, (await startRun(ann)).run_id)
})
afterAll(() => Promise.all(worlds.map((world) => world.end())))

async function copySite(): Promise<{ site: FederatedSite; ann: CheckedClient }> {
  const world = await copyPackagedFederation(pattern)
  worlds.push(world)
  const site = findSite(world, 'alpha')
  return { site, ann: await site.as('ann', ['analyst']) }
}

async function startRun(ann: CheckedClient): Promise<{ run_id: string }> {
  await ann.ok(create, { body: buildPersonLens() })
  return await ann.ok(start, { lens_id: 'people', node_data })
}

/** The results of the run, once it is through, without the run's id and the times. */
async function readRunResult(ann: CheckedClient, run_id: string) {
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

test.concurrent.each(['run-extracted', 'run-matched', 'run-resolved', 'run-publishing'])(
  'killed at %s, it is taken up again, and comes to the same',
  async (point) => {
    const { site, ann } = await copySite()
    const dying = await site.startUntil(point)
    const { run_id } = await startRun(ann)
    await waitUntil(() => dying.hasEnded())
    await expect.poll(() => dying.log()).toContain(`fault point ${point}`)
    await site.start(...roles)
    expect(await readRunResult(ann, run_id)).toEqual(undisturbedResult)
  },
)

test.concurrent('killed in the middle of a phase, it is begun again', async () => {
  const { site, ann } = await copySite()
  const daemon = await site.start(...roles)
  const { run_id } = await startRun(ann)
  await waitUntil(async () => (await ann.ok(status, { run_id })).state !== 'pending')
  await daemon.kill()
  await site.start(...roles)
  expect(await readRunResult(ann, run_id)).toEqual(undisturbedResult)
})

test.concurrent('killed before the request was answered, nothing of it stays', async () => {
  const { site, ann } = await copySite()
  const dying = await site.startUntil('run-kept')
  await expect(startRun(ann)).rejects.toThrow()
  await waitUntil(() => dying.hasEnded())
  const folder = path.join(site.dir, 'data/resolution/runs')
  const before = fs.readdirSync(folder)
  await site.start(...roles)
  const known = (await ann.ok(runs, { limit: 500 })).items.map(({ uid }) => uid)
  expect(before.filter((run) => !known.includes(run))).toHaveLength(1)
  await waitUntil(() => fs.readdirSync(folder).every((run) => known.includes(run)))
})
