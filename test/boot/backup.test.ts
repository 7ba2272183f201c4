// Scheduled backups: private, as many as are wanted, and good enough to get the site back.
import * as fs from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newJob } from '../../daemon/kernel/job/rules.ts'
import * as storeFiles from '../../daemon/offline/store/store-files.ts'
import { contribute } from '../../daemon/roles/consensus/session/contribute.ts'
import { list as listSessions } from '../../daemon/roles/consensus/session/list.ts'
import { backups } from '../../daemon/roles/site/backup/model.ts'
import {
  buildOpinionInput,
  createOperator,
  openSession,
  startConsensusSite,
  waitUntilDelivered,
} from '../roles/consensus/consensus-site.ts'
import { runCommand, runJsonCommand } from '../support/command/run-command.ts'
import { type TestSite, waitUntil } from '../support/site/test-site.ts'

const keep = 2
let world: TestSite
let dir: string
beforeAll(async () => {
  const backup_cron = '0 3 29 2 *'
  world = await startConsensusSite({ contributors: ['c1'], profile: { site: { backup_keep: keep, backup_cron } } })
  dir = path.join(world.folder.data, 'backups')
})
afterAll(async () => {
  await world?.end()
  expect(world?.loggedErrors ?? []).toEqual([])
})

const names = () => (fs.existsSync(dir) ? fs.readdirSync(dir).sort() : [])

/** Runs the worker as its schedule would; the name of what it made. */
async function runBackup(): Promise<string> {
  world.clock.advance(1_000)
  const name = new Date(world.clock.now()).toISOString().replaceAll(/[:.]/g, '-')
  const token = await world.token({ roles: ['auditor'] })
  world.wakeWorker('site', 'backup')
  await waitUntil(async () => {
    const at = `/api/v2/audit?action=site.backup.done&target=${name}`
    const { json } = await world.call('site', 'GET', at, undefined, { token })
    return (json as { items: unknown[] }).items.length === 1
  })
  return name
}

async function ratifySession(): Promise<string> {
  const person = await createOperator(world)
  const { id } = await openSession(person, { m: 1, n: 1 })
  await person.ok(contribute, { id, ...buildOpinionInput('c1', 0.9) })
  await waitUntilDelivered(person, id)
  return id
}

const modeOf = (file: string) => (fs.statSync(file).mode & 0o777).toString(8)

test('each is a folder of its own, closed to others, with every database and a manifest', async () => {
  await ratifySession()
  const name = await runBackup()
  expect(names()).toEqual([name])
  expect([modeOf(dir), modeOf(path.join(dir, name))]).toEqual(['700', '700'])
  const files = fs.readdirSync(path.join(dir, name)).sort()
  expect(files).toEqual(['consensus.db', 'manifest.json', 'site.db'])
  for (const file of files) expect(modeOf(path.join(dir, name, file)), file).toBe('600')
})

test('only the newest backups stay, drafts of a crash go, and foreign files stay', async () => {
  const foreign = ['2020-01-01T-notes', 'keep-me', '.hidden']
  for (const name of foreign) fs.mkdirSync(path.join(dir, name))
  const draft = path.join(dir, '.2026-03-01T03-00-00-000Z.part')
  fs.mkdirSync(draft)
  fs.writeFileSync(path.join(draft, 'site.db'), 'half')
  const made = [await runBackup(), await runBackup(), await runBackup()]
  expect(names()).toEqual([...foreign, ...made.slice(-keep)].sort())
})

test('one that was just made stays, also beside those of a clock that ran ahead', async () => {
  for (const year of [2098, 2099]) fs.mkdirSync(path.join(dir, `${year}-01-01T00-00-00-000Z`))
  const name = await runBackup()
  expect(names().filter((each) => /^\d{4}.*Z$/.test(each))).toEqual([name, '2099-01-01T00-00-00-000Z'])
  fs.rmdirSync(path.join(dir, '2099-01-01T00-00-00-000Z'))
})

const jobsPath = '/api/v2/job/backup'

test('its job is listed with its progress, and one that waits can be cancelled by a person who may', async () => {
  await runBackup()
  const token = await world.token({ roles: ['admin'] })
  const read = async (at = '') => (await world.call('site', 'GET', `${jobsPath}${at}`, undefined, { token })).json
  const { items } = (await read()) as { items: { id: string }[] }
  expect(items[0]).toMatchObject({
    ...{ kind: 'backup', state: 'completed', created_by: 'role:site', step: 1, failures: 0 },
    progress: { done: 2, total: 2 },
  })
  expect(items[0]).not.toHaveProperty('principal')
  const done = names().length
  const due_ts = world.clock.now() + 3_600_000
  const at = new Date(world.clock.now()).toISOString()
  const waiting = { tenant_id: 'tenant-a', created_by: 'role:site', created_at: at, ...newJob(undefined, due_ts) }
  await world.store('site').create(backups, 'backup_waiting', waiting)
  expect(await read('/backup_waiting')).toMatchObject({ state: 'queued', due_at: new Date(due_ts).toISOString() })
  const cancel = (by: string) => world.call('site', 'DELETE', `${jobsPath}/backup_waiting`, undefined, { token: by })
  expect((await cancel(await world.token({ roles: ['operator'] }))).status).toBe(403)
  for (let time = 0; time < 2; time++)
    expect(await cancel(token)).toMatchObject({ status: 200, json: { state: 'cancelled' } })
  expect((await world.call('site', 'DELETE', `${jobsPath}/${items[0]?.id}`, undefined, { token })).json).toMatchObject({
    code: 'wrong_state',
    detail: 'the job is already completed',
  })
  world.clock.advance(7_200_000)
  world.wakeWorker('site', 'jobs')
  await runBackup()
  expect(names().length - done).toBeLessThanOrEqual(1)
  expect(await read('/backup_waiting')).toMatchObject({ state: 'cancelled' })
})

test('the command line takes it back: refused while the site runs, whole once it is stopped', async () => {
  const id = await ratifySession()
  const before = await (await createOperator(world)).ok(listSessions, {})
  const name = await runBackup()
  const later = await ratifySession()
  const site = path.dirname(world.folder.profile)
  const words = ['store', 'restore', path.join(dir, name), '--yes', '--site', site]
  const refused = await runCommand(words)
  expect([refused.exit, refused.stderr]).toEqual([3, expect.stringContaining('is running')])
  await world.stop()
  expect(await runJsonCommand(words)).toMatchObject({ roles: ['site', 'consensus'] })
  await world.start()
  const after = await (await createOperator(world)).ok(listSessions, {})
  expect(after).toEqual(before)
  const ids = after.items.map((each) => each.id)
  expect([ids.includes(id), ids.includes(later)]).toEqual([true, false])
  expect(await storeFiles.checkDatabases(world.folder, {}, () => undefined)).toEqual([
    { role: 'site', faults: [] },
    { role: 'consensus', faults: [] },
  ])
  await ratifySession()
})
