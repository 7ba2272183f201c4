// A role that cannot start leaves the others serving and everything of its own free; only when all fail does the process.
import * as fs from 'node:fs'
import * as net from 'node:net'
import path from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { serve } from '../../daemon/boot/serve.ts'
import { roleDatabaseFile, roleSocketFile, siteFolder } from '../../daemon/boot/storage/site-folder.ts'
import { list as listSessions } from '../../daemon/roles/consensus/session/list.ts'
import { list as listChannels } from '../../daemon/roles/site/channel/list.ts'
import { serveSiteProcess } from '../support/command/run-command-process.ts'
import { createTestSite, type TestSite, type TestSiteOptions } from '../support/site/test-site.ts'

const ends: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

async function startSite(options: TestSiteOptions = {}): Promise<TestSite> {
  const world = await createTestSite(options)
  ends.push(() => world.end())
  return world
}

async function occupyPort(): Promise<{ port: number; free(): Promise<void> }> {
  const server = net.createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const free = () => new Promise<void>((resolve) => server.close(() => resolve()))
  ends.push(free)
  return { port: (server.address() as net.AddressInfo).port, free }
}

/** One role of the site in a process of its own. */
async function serveRoleElsewhere(world: TestSite, role: string): Promise<() => Promise<string>> {
  const env = { PLATFORM_ROLES: role, SITE_PORT: '0', CONSENSUS_PORT: '0' }
  const process = await serveSiteProcess(path.dirname(world.folder.profile), { env })
  const stop = async () => (await process.stop()).stderr
  ends.push(stop)
  return stop
}

const listStartFailures = (world: TestSite) =>
  world.loggedErrors.filter((fault) => fault.startsWith('platform.role.failed'))

async function readHealth(world: TestSite, role: string) {
  const token = await world.token({ roles: ['operator'] })
  const { status, json } = await world.call(role, 'GET', '/api/v2/health', undefined, { token })
  return {
    code: status,
    ...(json as { status: string; dependencies: { name: string; state: string; detail: string }[] }),
  }
}

function corruptDatabase(world: TestSite, role: string): void {
  const file = roleDatabaseFile(world.folder, role)
  fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 })
  for (const part of [file, `${file}-wal`, `${file}-shm`]) fs.rmSync(part, { force: true })
  fs.writeFileSync(file, 'this is not a database '.repeat(1_000), { mode: 0o600 })
}

test('consensus, whose port is taken: the site role serves, and another process may run consensus', async () => {
  const { port } = await occupyPort()
  const world = await startSite({ profile: { consensus: { port } } })
  await world.start()
  expect(listStartFailures(world)).toEqual([expect.stringMatching(/"failed":"consensus".*EADDRINUSE/)])
  const operator = await world.as({ roles: ['operator'] })
  expect(await operator.ok(listChannels, {})).toEqual({ items: [], total: 0, total_is: 'exact' })
  expect(() => world.url('consensus')).toThrow('consensus has no URL')
  expect(fs.existsSync(roleSocketFile(world.folder, 'consensus'))).toBe(false)
  const stop = await serveRoleElsewhere(world, 'consensus')
  expect(await stop()).toContain('run/consensus/sock')
})

test('the site role, whose port is taken: consensus serves, says what it misses, and gets it from another process', async () => {
  const { port } = await occupyPort()
  const world = await startSite({ profile: { site: { port } } })
  await world.start()
  expect(listStartFailures(world)).toEqual([expect.stringMatching(/"failed":"site".*EADDRINUSE/)])
  expect(await (await world.as()).ok(listSessions, {})).toEqual({ items: [], total: 0, total_is: 'exact' })
  const missing = { name: 'site', state: 'down', detail: 'does not answer' }
  const degraded = await readHealth(world, 'consensus')
  expect(degraded).toMatchObject({ code: 200, status: 'degraded' })
  expect(degraded.dependencies).toContainEqual(expect.objectContaining(missing))
  // The remaining parts of the site role would report on carriers that do not run.
  expect(degraded.dependencies.map(({ name }) => name)).toEqual(['store', 'site'])
  await serveRoleElsewhere(world, 'site')
  const found = { name: 'site', state: 'ok', detail: 'ready in another process' }
  await expect
    .poll(() => readHealth(world, 'consensus'), { timeout: 60_000 })
    .toMatchObject({ code: 200, status: 'ok', dependencies: expect.arrayContaining([expect.objectContaining(found)]) })
})

test.each(['site', 'consensus'])('%s, whose database is none, is left out until it is one again', async (role) => {
  const world = await startSite()
  corruptDatabase(world, role)
  await world.start()
  expect(listStartFailures(world)).toEqual([expect.stringMatching(new RegExp(`"failed":"${role}".*not a database`))])
  const other = role === 'site' ? 'consensus' : 'site'
  expect((await world.call(other, 'GET', '/health')).status).toBe(200)
  await world.stop()
  fs.rmSync(roleDatabaseFile(world.folder, role))
  await world.start()
  expect((await world.call(role, 'GET', '/health')).status).toBe(200)
})

test('a role that another process runs is left to it, and its socket too', async () => {
  const world = await startSite()
  const stop = await serveRoleElsewhere(world, 'consensus')
  await world.start()
  expect(listStartFailures(world)).toEqual([
    expect.stringMatching(/"failed":"consensus".*runs already in another process/),
  ])
  expect((await world.call('site', 'GET', '/health')).status).toBe(200)
  expect(fs.existsSync(roleSocketFile(world.folder, 'consensus'))).toBe(true)
  await expect(startRoles(world, ['consensus'])).rejects.toMatchObject({ code: 'conflict' })
  expect(await stop()).toContain('platform.stopped')
  await world.restart()
  expect((await world.call('consensus', 'GET', '/health')).status).toBe(200)
  expect(listStartFailures(world)).toHaveLength(1)
})

function startRoles({ folder, clock }: TestSite, roles: readonly string[]) {
  const silent = () => undefined
  return serve({ folder, env: {}, clock, roles, log: { debug: silent, info: silent, warn: silent, error: silent } })
}

test('when all fail it rejects with the first cause, and nothing is left locked or listening', async () => {
  const [one, two] = [await occupyPort(), await occupyPort()]
  const world = await startSite({ profile: { site: { port: one.port }, consensus: { port: two.port } } })
  await expect(world.start()).rejects.toThrow(new RegExp(`EADDRINUSE.*${one.port}`))
  expect(listStartFailures(world)).toHaveLength(2)
  expect(['site', 'consensus'].filter((role) => fs.existsSync(roleSocketFile(world.folder, role)))).toEqual([])
  await one.free()
  await two.free()
  await world.start()
  expect((await world.call('consensus', 'GET', '/health')).status).toBe(200)
})

test('when the databases of all are none, too', async () => {
  const world = await startSite()
  for (const role of ['site', 'consensus']) corruptDatabase(world, role)
  await expect(world.start()).rejects.toThrow('not a database')
  expect(listStartFailures(world)).toHaveLength(2)
})

test('a site of nothing but a profile refuses without touching anything', async () => {
  const world = await startSite()
  const folder = siteFolder(path.join(path.dirname(world.folder.profile), 'nowhere'))
  await expect(startRoles({ ...world, folder }, ['site'])).rejects.toMatchObject({ name: 'ProfileError' })
  expect(fs.existsSync(folder.run)).toBe(false)
})
