// A file of records outlives the death of the process that registers it, at each step: every record is answered once, and as it
// is without a death.
import * as fs from 'node:fs'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { list as files } from '../../daemon/roles/resolution/arrival-file/list.ts'
import { list as changes } from '../../daemon/roles/resolution/entity-change/list.ts'
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
/** Two batches: a record with the id of an earlier one begins the second. */
const batch_end = 4

let world: PackagedFederation
let alpha: FederatedSite
let ann: CheckedClient
let drop: string
beforeAll(async () => {
  world = await createPackagedFederation('alpha')
  alpha = world.sites.alpha as FederatedSite
  drop = path.join(alpha.dir, 'drop')
  fs.mkdirSync(drop)
  const profile = path.join(alpha.dir, 'profile.yaml')
  const folder = JSON.stringify([{ name: 'desk', path: drop, node_id: 'desk', lens: 'people' }])
  const text = fs.readFileSync(profile, 'utf8').replace('[site, consensus]', '[site, resolution]')
  fs.writeFileSync(profile, text.replace(/^resolution:\n/m, `resolution:\n  arrival_folders: ${folder}\n`))
  const daemon = await alpha.start(...roles)
  ann = await alpha.as('ann', ['analyst'])
  await ann.ok(create, { body: buildPersonLens() })
  const node_data = { east: buildPeople(0, 60), west: buildPeople(30, 90) }
  const { run_id } = await ann.ok(start, { lens_id: 'people', node_data })
  await waitUntil(async () => (await ann.ok(status, { run_id })).state === 'completed')
  await daemon.kill()
})
afterAll(() => world?.end())
afterEach(() => world.stopAll())

/** Two people of the run and strangers, other people in each file. The fifth row has the id of the second with other values. */
function dropFile(name: string, at: number): void {
  const rows = [at, 200 + at * 10, 201 + at * 10, 202 + at * 10, 200 + at * 10, at + 20, 203 + at * 10].map(
    (number, row) => {
      const [person] = buildPeople(number, number + 1)
      const isAgain = row === batch_end
      const id = `${name}-${isAgain ? 1 : row}`
      return [id, person?.given_name, isAgain ? 'Other' : person?.surname, person?.date_of_birth].join(',')
    },
  )
  const draft = path.join(drop, `.${name}`)
  fs.writeFileSync(draft, ['id,given_name,surname,date_of_birth', ...rows].join('\n'))
  fs.renameSync(draft, path.join(drop, `${name}.csv`))
}

async function readEnd(name: string) {
  const done = path.join(drop, 'done')
  const claim = await waitUntil(() => fs.readdirSync(done).find((entry) => entry.startsWith(`${name}.csv.`)) ?? false)
  const lines = fs
    .readFileSync(path.join(done, claim, `${name}.csv.answers.jsonl`), 'utf8')
    .trim()
    .split('\n')
  return lines.map((line) => {
    const { row, record_id, outcome } = JSON.parse(line) as { row: number; record_id: string; outcome: string }
    return [row, record_id.replace(name, ''), outcome]
  })
}

const expected = [
  [1, '-0', 'joined'],
  [2, '-1', 'new'],
  [3, '-2', 'new'],
  [4, '-3', 'new'],
  [5, '-1', 'replaced'],
  [6, '-5', 'joined'],
  [7, '-6', 'new'],
]

/** Changes of entities in which the records of the file joined, each with its record. */
async function listJoined(name: string): Promise<string[]> {
  const joined: string[] = []
  let since: string | undefined
  for (;;) {
    const page = await ann.ok(changes, { lens: 'people', limit: 500, ...(since === undefined ? {} : { since }) })
    for (const { joined: records = [] } of page.items)
      for (const { node_id, record_id } of records)
        if (node_id === 'desk' && record_id.startsWith(`${name}-`)) joined.push(record_id)
    if (page.items.length === 0) return joined.sort()
    since = page.next_since
  }
}

const points = [
  'arrival-file-claimed',
  'arrival-file-matched',
  'arrival-file-matched:2',
  'arrival-file-answered',
  'arrival-file-answered:2',
  'arrival-file-ended',
  'arrival-file-put-away',
]

describe.each(points.map((point, at) => [point, at] as const))('killed at %s', (point, at) => {
  test('every record is answered once, as without a death', async () => {
    const name = `file${at}`
    const dying = await alpha.startUntil(point)
    dropFile(name, at)
    await waitUntil(() => dying.hasEnded())
    await expect.poll(() => dying.log()).toContain(`fault point ${point}`)
    const daemon = await alpha.start(...roles)
    expect(await readEnd(name)).toEqual(expected)
    expect(fs.readdirSync(path.join(drop, 'work'))).toEqual([])
    const { items } = await waitUntil(async () => {
      const page = await ann.ok(files, { limit: 500 })
      return page.items.some(({ file, state }) => file === `${name}.csv` && state === 'done') && page
    })
    const own = items.filter(({ file }) => file === `${name}.csv`)
    expect(own).toMatchObject([{ outcomes: { joined: 2, new: 4, replaced: 1 }, refused: 0, next_row: 8 }])
    const joined = await waitUntil(async () => {
      const all = await listJoined(name)
      return new Set(all).size === 6 && all
    })
    // The record that was replaced may join a second entity; no other does.
    const again = `${name}-1`
    expect(joined.filter((id) => id !== again)).toEqual([0, 2, 3, 5, 6].map((row) => `${name}-${row}`))
    await daemon.kill()
  })
})

test('killed at any moment of many files, none is lost or answered twice', async () => {
  const names = Array.from({ length: 6 }, (_, at) => `storm${at}`)
  for (const [at, name] of names.entries()) dropFile(name, 10 + at)
  const seen = () => fs.readdirSync(path.join(drop, 'done')).filter((entry) => entry.startsWith('storm')).length
  for (let before = seen(); before < names.length; before = seen()) {
    const daemon = await alpha.start(...roles)
    await waitUntil(() => seen() > before)
    await daemon.kill()
  }
  for (const name of names) expect(await readEnd(name)).toEqual(expected)
})
