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
import { peopleOf, personLens } from '../roles/resolution/resolution-world.ts'
import { type PackagedSite, type PackagedSites, packagedSites } from '../support/packaged-sites.ts'
import type { Person } from '../support/person.ts'
import { until } from '../support/site-world.ts'

const roles = ['site', 'resolution']
const node_data = { east: peopleOf(0, 60), west: peopleOf(30, 90) }

let world: PackagedSites
let alpha: PackagedSite
let ann: Person
let undisturbed: unknown
beforeAll(async () => {
  world = await packagedSites('alpha')
  alpha = world.sites.alpha as PackagedSite
  const profile = path.join(alpha.dir, 'profile.yaml')
  fs.writeFileSync(profile, fs.readFileSync(profile, 'utf8').replace('[site, consensus]', '[site, resolution]'))
  const daemon = await alpha.start(...roles)
  ann = await alpha.as('ann', ['analyst'])
  await ann.ok(create, { body: personLens() })
  const { run_id } = await ann.ok(start, { lens_id: 'people', node_data })
  undisturbed = await foundBy(run_id)
  await daemon.kill()
})
afterAll(() => world?.end())

/** What the run wrote, once it is through, without the run and the times. */
async function foundBy(run_id: string) {
  const run = await until(async () => {
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
    await until(() => dying.isGone())
    await expect.poll(() => dying.log()).toContain(`fault point ${point}`)
    const daemon = await alpha.start(...roles)
    expect(await foundBy(run_id)).toEqual(undisturbed)
    await daemon.kill()
  })
})

test('killed in the middle of a phase, it is begun again', async () => {
  const daemon = await alpha.start(...roles)
  const { run_id } = await ann.ok(start, { lens_id: 'people', node_data })
  await until(async () => (await ann.ok(status, { run_id })).state !== 'pending')
  await daemon.kill()
  const again = await alpha.start(...roles)
  expect(await foundBy(run_id)).toEqual(undisturbed)
  await again.kill()
})

test('killed before the request was answered, nothing of it stays', async () => {
  const dying = await alpha.startUntil('run-kept')
  await expect(ann.ok(start, { lens_id: 'people', node_data })).rejects.toThrow()
  await until(() => dying.isGone())
  const folder = path.join(alpha.dir, 'data/resolution/runs')
  const before = fs.readdirSync(folder)
  const daemon = await alpha.start(...roles)
  const known = (await ann.ok(runs, { limit: 500 })).items.map(({ uid }) => uid)
  expect(before.filter((run) => !known.includes(run))).toHaveLength(1)
  await until(() => fs.readdirSync(folder).every((run) => known.includes(run)))
  await daemon.kill()
})
