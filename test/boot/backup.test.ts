// Scheduled backups: private, as many as are wanted, and good enough to get the site back.
import * as fs from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import * as storeFiles from '../../daemon/boot/offline/store-files.ts'
import { contribute } from '../../daemon/roles/consensus/session/contribute.ts'
import { list as listSessions } from '../../daemon/roles/consensus/session/list.ts'
import { consensusWorld, delivered, open, operatorOf, opinion } from '../roles/consensus/consensus-world.ts'
import { answered, platform } from '../support/command-line.ts'
import { type SiteWorld, until } from '../support/site-world.ts'

const keep = 2
let world: SiteWorld
let dir: string
beforeAll(async () => {
  const backup_cron = '0 3 29 2 *'
  world = await consensusWorld({ contributors: ['c1'], profile: { site: { backup_keep: keep, backup_cron } } })
  dir = path.join(world.folder.data, 'backups')
})
afterAll(async () => {
  await world?.end()
  expect(world?.faults ?? []).toEqual([])
})

const names = () => (fs.existsSync(dir) ? fs.readdirSync(dir).sort() : [])

/** Runs the worker as its schedule would; the name of what it made. */
async function backedUp(): Promise<string> {
  world.clock.advance(1_000)
  const name = new Date(world.clock.now()).toISOString().replaceAll(/[:.]/g, '-')
  const token = await world.token({ roles: ['auditor'] })
  world.wake('site', 'backup')
  await until(async () => {
    const at = `/api/v2/audit?action=site.backup.done&target=${name}`
    const { json } = await world.call('site', 'GET', at, undefined, { token })
    return (json as { items: unknown[] }).items.length === 1
  })
  return name
}

async function ratified(): Promise<string> {
  const person = await operatorOf(world)
  const { id } = await open(person, { m: 1, n: 1 })
  await person.ok(contribute, { id, ...opinion('c1', 0.9) })
  await delivered(person, id)
  return id
}

const modeOf = (file: string) => (fs.statSync(file).mode & 0o777).toString(8)

test('each is a folder of its own, closed to others, with every database and a manifest', async () => {
  await ratified()
  const name = await backedUp()
  expect(names()).toEqual([name])
  expect([modeOf(dir), modeOf(path.join(dir, name))]).toEqual(['700', '700'])
  const files = fs.readdirSync(path.join(dir, name)).sort()
  expect(files).toEqual(['consensus.db', 'manifest.json', 'site.db'])
  for (const file of files) expect(modeOf(path.join(dir, name, file)), file).toBe('600')
})

test('only the newest are kept, drafts of a crash go, and what is not ours stays', async () => {
  const foreign = ['2020-01-01T-notes', 'keep-me', '.hidden']
  for (const name of foreign) fs.mkdirSync(path.join(dir, name))
  const draft = path.join(dir, '.2026-03-01T03-00-00-000Z.part')
  fs.mkdirSync(draft)
  fs.writeFileSync(path.join(draft, 'site.db'), 'half')
  const made = [await backedUp(), await backedUp(), await backedUp()]
  expect(names()).toEqual([...foreign, ...made.slice(-keep)].sort())
})

test('one that was just made stays, also beside those of a clock that ran ahead', async () => {
  for (const year of [2098, 2099]) fs.mkdirSync(path.join(dir, `${year}-01-01T00-00-00-000Z`))
  const name = await backedUp()
  expect(names().filter((each) => /^\d{4}.*Z$/.test(each))).toEqual([name, '2099-01-01T00-00-00-000Z'])
  fs.rmdirSync(path.join(dir, '2099-01-01T00-00-00-000Z'))
})

test('the command line takes it back: refused while the site runs, whole once it is stopped', async () => {
  const id = await ratified()
  const before = await (await operatorOf(world)).ok(listSessions, {})
  const name = await backedUp()
  const later = await ratified()
  const site = path.dirname(world.folder.profile)
  const words = ['store', 'restore', path.join(dir, name), '--yes', '--site', site]
  const refused = await platform(words)
  expect([refused.exit, refused.stderr]).toEqual([3, expect.stringContaining('runs')])
  await world.stop()
  expect(await answered(words)).toMatchObject({ roles: ['site', 'consensus'] })
  await world.start()
  const after = await (await operatorOf(world)).ok(listSessions, {})
  expect(after).toEqual(before)
  const ids = after.items.map((each) => each.id)
  expect([ids.includes(id), ids.includes(later)]).toEqual([true, false])
  expect(await storeFiles.check(world.folder, {}, () => undefined)).toEqual([
    { role: 'site', faults: [] },
    { role: 'consensus', faults: [] },
  ])
  await ratified()
})
