// Migration of pipelines and connections from a service that ran them, in two phases; the former service is another site.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findMissingConnections, planSwitch, replaceConnections } from '../../cli/migration/plan.ts'
import { createDatabase } from '../roles/ingest/ingest-site.ts'
import { createScratchFolder, runCommand, runJsonCommand, serveSite } from '../support/command/run-command.ts'

const { dir, remove } = createScratchFolder('migrate')
const running = new Map<string, Awaited<ReturnType<typeof serveSite>>>()
const tokenFile = path.join(dir, 'former.token')

async function startSite(name: string, tick_minutes: number): Promise<void> {
  const site = path.join(dir, name)
  await runJsonCommand(['init', '--site', site, '--tenant', 'acme', '--profile', 'demo'])
  const profile = path.join(site, 'profile.yaml')
  const data_folder = path.join(dir, `${name}-data`)
  mkdirSync(path.join(data_folder, 'acme'), { recursive: true })
  const text = readFileSync(profile, 'utf8').replace(/roles: \[.*\]/, 'roles: [site, ingest]')
  writeFileSync(
    profile,
    `${text}\ningest:\n  port: 0\n  data_folder: ${data_folder}\n  scheduler_tick_minutes: ${tick_minutes}\n`,
  )
  running.set(name, await serveSite(site))
}

const at = (name: string) => ({ env: { PLATFORM_SITE: path.join(dir, name) } })
const ingest = (name: string, ...words: string[]) => runJsonCommand(['ingest', ...words], at(name))
const from = () => ['--from', `${running.get('former')?.urlOf('ingest')}/userspace`, '--from-token-file', tokenFile]
const migrate = (...words: string[]) => runCommand(['ingest', 'migrate', ...from(), '--json', ...words], at('new'))
const rowsOf = ({ stdout }: { stdout: string }) =>
  Object.fromEntries(JSON.parse(stdout).items.map((row: Record<string, string>) => [row.name, row]))

function writeOften(): string {
  const file = path.join(dir, 'often.json')
  const tasks = [{ name: 'read', operator: 'ingest_file', params: { file: 'rows.csv' } }]
  writeFileSync(file, JSON.stringify({ format: 1, dag_id: 'often', tasks }))
  return file
}

beforeAll(async () => {
  for (const name of ['former', 'new']) {
    await startSite(name, name === 'new' ? 60 : 30)
    createDatabase(path.join(dir, `${name}-data/acme/shop.db`), 'CREATE TABLE t (id); INSERT INTO t VALUES (1), (2)')
  }
  const token = [
    'token',
    'mint',
    '--subject',
    'mover',
    '--roles',
    'admin',
    '--clearance',
    'SECRET',
    '--site',
    path.join(dir, 'former'),
  ]
  writeFileSync(tokenFile, (await runJsonCommand(token)).token, { mode: 0o600 })
  writeFileSync(path.join(dir, 'shop.json'), JSON.stringify({ file: 'shop.db' }))
  const shop = ['connection', 'create', '--type', 'sqlite', '--name', 'shop', '--config', path.join(dir, 'shop.json')]
  const { uid: connection_id } = await ingest('former', ...shop)
  const tasks = [{ name: 'read', operator: 'ingest_database', params: { connection_id, table: 't' } }]
  const file = path.join(dir, 'orders.json')
  writeFileSync(file, JSON.stringify({ format: 1, dag_id: 'orders', tasks }))
  await ingest('former', 'deploy', file, '--schedule', '@daily')
})
afterAll(async () => {
  for (const site of running.values()) await site.stop()
  remove()
})

const stateAt = async (name: string) => (await ingest(name, 'pipelines')).items[0]

test('a dry run says what would be copied, and changes nothing', async () => {
  const planned = rowsOf(await migrate('--dry-run'))
  expect(planned).toMatchObject({ shop: { action: 'create' }, orders: { action: 'deploy' } })
  expect((await ingest('new', 'pipelines')).items).toEqual([])
  expect((await migrate('--dry-run', '--phase', 'switch')).exit).toBe(5)
})

test('the first phase copies both, and the former service goes on', async () => {
  const copied = await migrate()
  expect(copied.exit, copied.stderr).toBe(0)
  expect(rowsOf(copied)).toMatchObject({
    shop: { action: 'created', detail: 'it works' },
    orders: { action: 'deployed' },
  })
  expect(await stateAt('new')).toMatchObject({ dag_id: 'orders', status: 'paused', schedule: null })
  expect(await stateAt('former')).toMatchObject({ status: 'active', schedule: '@daily' })
  expect(rowsOf(await migrate())).toMatchObject({ shop: { action: 'keep' }, orders: { action: 'keep' } })
})

test('the second phase switches, once, and the pipeline reads by the connection of this site', async () => {
  expect(rowsOf(await migrate('--phase', 'switch', '--dry-run')).orders.action).toBe('switch')
  expect(await stateAt('former')).toMatchObject({ status: 'active' })
  expect(rowsOf(await migrate('--phase', 'switch'))).toMatchObject({ orders: { action: 'switched', detail: '@daily' } })
  expect(await stateAt('former')).toMatchObject({ status: 'paused' })
  expect(await stateAt('new')).toMatchObject({ status: 'active', schedule: '@daily' })
  expect(rowsOf(await migrate('--phase', 'switch'))).toMatchObject({ orders: { action: 'keep' } })
  const run = await ingest('new', 'run', 'orders', '--wait')
  expect(run).toMatchObject({ state: 'success', tasks: [{ lineage: { rows_out: 2 } }] })
})

test('a pipeline whose schedule this site refuses runs at the former service again', async () => {
  await ingest('former', 'deploy', writeOften(), '--schedule', '*/30 * * * *')
  await migrate()
  const { exit, stdout } = await migrate('--phase', 'switch')
  const { often } = rowsOf({ stdout })
  expect([exit, often.action]).toEqual([5, 'refused'])
  expect(often.detail).toMatch(/60 minutes.*; it runs at the former service again$/)
  const states = await Promise.all(['former', 'new'].map(async (name) => (await ingest(name, 'pipelines')).items))
  const often_states = states.map((items) => items.find(({ dag_id }: { dag_id: string }) => dag_id === 'often').status)
  expect(often_states).toEqual(['active', 'paused'])
})

test.each([
  ['active', 'paused', 'switch'],
  ['active', 'active', 'switch'],
  ['paused', 'active', 'done'],
  ['paused', 'paused', 'unclear'],
  ['active', 'rejected', 'rejected'],
  ['active', undefined, 'absent'],
] as const)('%s there and %s here: %s', (there, here, kind) => {
  const former = [{ uid: 'pl_1', dag_id: 'orders', content: '', status: there, schedule: null }]
  const present = here === undefined ? [] : [{ uid: 'pl_2', dag_id: 'orders', status: here }]
  expect(planSwitch(former, present)[0]?.kind).toBe(kind)
})

test('connections in a content are those of this site, and a missing one is named', () => {
  const content = JSON.stringify({
    tasks: [{ params: { connection_id: 'conn_a' } }, { params: { connection_id: 'conn_b' } }],
  })
  expect(replaceConnections(content, new Map([['conn_a', 'conn_1']]))).toContain('conn_1')
  expect(findMissingConnections(content, new Map([['conn_a', 'conn_1']]))).toEqual(['conn_b'])
})

test.each<[string, string[], number, RegExp]>([
  ['no token', ['--from', 'https://old.example/userspace'], 2, /--from-token-file is required/],
  [
    'a service that does not run',
    ['--from', 'http://127.0.0.1:1/userspace', '--from-token-file', tokenFile],
    4,
    /not running/,
  ],
])('with %s it says so', async (_, words, code, message) => {
  const { exit, stderr } = await runCommand(['ingest', 'migrate', ...words], at('new'))
  expect([exit, stderr]).toEqual([code, expect.stringMatching(message)])
})
