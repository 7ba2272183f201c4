// A whole site whose documents are in a real cluster: sessions over HTTP, the cluster's deaths, and its absence at the start.
import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import { sqliteAudit } from '../../../adapters/store/sqlite/audit.ts'
import { moveDocumentsHome } from '../../../adapters/store/sqlite/documents-home.ts'
import { sqliteFile } from '../../../adapters/store/sqlite/file.ts'
import { sqliteOwedAudit } from '../../../adapters/store/sqlite/owed-audit.ts'
import { check, holdings } from '../../../daemon/boot/offline/store-files.ts'
import { migrate } from '../../../daemon/boot/offline/store-migration.ts'
import { serve } from '../../../daemon/boot/serve.ts'
import { databaseOf } from '../../../daemon/boot/site-folder.ts'
import { runFolder } from '../../../daemon/boot/stock.ts'
import { contribute } from '../../../daemon/roles/consensus/session/contribute.ts'
import { create } from '../../../daemon/roles/consensus/session/create.ts'
import { get } from '../../../daemon/roles/consensus/session/get.ts'
import { list } from '../../../daemon/roles/consensus/session/list.ts'
import { anEvent } from '../../conformance/store-requirement.ts'
import { asked, consensusWorld, operatorOf, opinion } from '../../roles/consensus/consensus-world.ts'
import { type OpenSearch, opensearch, opensearchWanted } from '../../support/engines/opensearch.ts'
import { httpCall } from '../../support/http-call.ts'
import { whenPresent } from '../../support/requires.ts'
import { type SiteWorld, until } from '../../support/site-world.ts'

const where = whenPresent(opensearchWanted)
let server: OpenSearch
let prefix: string
let world: SiteWorld | undefined

beforeAll(async () => {
  if (!opensearchWanted.isPresent) return
  server = await opensearch()
  await server.start()
})
afterAll(async () => {
  await server?.end()
})
afterEach(async () => {
  await world?.end()
  world = undefined
})

async function aWorld(): Promise<SiteWorld> {
  world = await consensusWorld({ env: inCluster(), contributors: ['c1', 'c2', 'c3'] })
  return world
}

function inCluster() {
  prefix = `site-${randomUUID()}`
  return inClusterOf(prefix)
}

function inClusterOf(prefix: string) {
  return { SEARCH_HOST: server.url, SEARCH_INDEX_PREFIX: prefix, SEARCH_REPLICAS: '0', SEARCH_TIMEOUT: '10' }
}

const wanted = asked({ m: 2, n: 3 })

async function health(site: SiteWorld, role: string): Promise<string> {
  const token = await site.token({ roles: ['operator'] })
  const { status, json } = await site.call(role, 'GET', '/api/v2/health', undefined, { token })
  return `${status} ${(json as { detail?: string; status?: string }).detail ?? (json as { status: string }).status}`
}

async function countOf(index: string): Promise<number> {
  await server.ask('POST', `/${index}/_refresh`)
  return ((await server.ask('GET', `/${index}/_count`)) as { count: number }).count
}

where('a session lives in the cluster, its audit chain here, and copies of that there', async () => {
  const site = await aWorld()
  const person = await operatorOf(site)
  const { id } = await person.ok(create, wanted)
  await person.ok(contribute, { id, ...opinion('c1', 0.9) })
  expect(await person.ok(contribute, { id, ...opinion('c2', 0.95) })).toMatchObject({ state: 'RATIFIED' })
  expect(await person.ok(get, { id })).toMatchObject({ state: 'RATIFIED', contributors: 2 })
  await expect
    .poll(async () => (await person.ok(list, {})).items.map((each) => each.id), { timeout: 60_000 })
    .toEqual([id])
  expect(await countOf(`${prefix}.alpha.consensus.session`)).toBe(1)
  expect(await health(site, 'consensus')).toBe('200 ok')
  const token = await site.token({ roles: ['auditor'] })
  const { json } = await site.call('consensus', 'GET', '/api/v2/audit', undefined, { token })
  expect((json as { items: unknown[] }).items.length).toBeGreaterThanOrEqual(3)
  await expect.poll(() => countOf(`${prefix}.alpha.audit`), { timeout: 60_000 }).toBeGreaterThanOrEqual(3)
})

where('without its cluster a site is up and not ready, and says when to come again; then it goes on', async () => {
  const site = await aWorld()
  const person = await operatorOf(site)
  const { id } = await person.ok(create, wanted)
  await server.kill()
  const tries = [person.ask(get, { id }), person.ask(list, {}), person.ask(create, wanted)] as const
  for (const { status, problem } of await Promise.all(tries)) {
    expect([status, problem?.code]).toEqual([503, 'unavailable'])
    expect(JSON.stringify(problem)).not.toContain('127.0.0.1')
  }
  const token = await site.token({ roles: ['operator'] })
  const refused = await site.call('consensus', 'GET', `/api/v2/consensus/session/${id}`, undefined, { token })
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  expect((await site.call('consensus', 'GET', '/health')).status).toBe(503)
  expect(await health(site, 'consensus')).toBe('503 the store is not ready: opensearch: no connection')
  await site.restart()
  expect((await site.call('consensus', 'GET', '/health')).status).toBe(503)
  await server.start()
  await expect.poll(() => health(site, 'consensus'), { timeout: 60_000 }).toBe('200 ok')
  const again = await operatorOf(site)
  await again.ok(contribute, { id, ...opinion('c1', 0.9) })
  expect(await again.ok(contribute, { id, ...opinion('c3', 0.9) })).toMatchObject({ state: 'RATIFIED' })
})

where('documents are in one place: a site that has them in the cluster does not begin anew without it', async () => {
  const site = await aWorld()
  await (await operatorOf(site)).ok(create, wanted)
  await site.stop()
  await expect(serve({ folder: site.folder, env: {} })).rejects.toThrow(/are in opensearch.*platform store migrate/)
  await site.start()
  expect(await health(site, 'consensus')).toBe('200 ok')
})

where('a write that is owed when a site moves is sealed under the name that the role starts with', async () => {
  const site = await aWorld()
  await (await operatorOf(site)).ok(create, wanted)
  await site.stop()
  const { folder } = site
  const env = inClusterOf(prefix)
  // A chain without records yet, and the removal of a document that is gone: done, by the look of it.
  const database = databaseOf(folder, 'consensus')
  for (const end of ['', '-wal', '-shm']) rmSync(`${database}${end}`, { force: true })
  const file = sqliteFile({ file: database, addonDir: runFolder(folder, 'consensus') })
  const owed = sqliteOwedAudit(file, sqliteAudit(file, 'consensus@alpha'))
  const replaces = { _seq_no: 0, _primary_term: 1 }
  const plan = JSON.stringify({ write: 'w1', alias: `${prefix}.alpha.consensus.session`, id: 'gone', replaces })
  await owed.begin({ write: 'w1', plan }, [anEvent({ target: 'gone' })])
  await moveDocumentsHome(file, 'opensearch')
  await file.close()
  await migrate(folder, env, { to: 'sqlite', replace: true }, () => undefined)
  const after = sqliteFile({ file: database, addonDir: runFolder(folder, 'consensus') })
  const [sealed] = await sqliteAudit(after, 'consensus@alpha').list({ limit: 9, ascending: true })
  await after.close()
  expect(sealed).toMatchObject({ writer: 'consensus@alpha', event: { target: 'gone' } })
  const running = await serve({ folder, env: {}, clock: site.clock })
  await running.stop()
})

where('a site moves into the cluster and back, with every document and version, and proof of it', async () => {
  world = await consensusWorld({ contributors: ['c1', 'c2', 'c3'] })
  const { folder } = world
  const person = await operatorOf(world)
  const made = [await person.ok(create, wanted), await person.ok(create, wanted)]
  await person.ok(contribute, { id: made[0]?.id ?? '', ...opinion('c1', 0.9) })
  await person.ok(contribute, { id: made[0]?.id ?? '', ...opinion('c2', 0.9) })
  const env = inCluster()
  const move = (to: 'opensearch' | 'sqlite', replace = false) => migrate(folder, env, { to, replace }, () => undefined)
  await expect(move('opensearch')).rejects.toThrow(/runs/)
  const before = await until(async () => {
    const all = await Promise.all(made.map(({ id }) => person.ok(get, { id })))
    return all.every(({ undelivered }) => undelivered === 0) && all
  })
  await world.stop()
  const moved = await move('opensearch')
  expect(moved.find(({ collection }) => collection === 'session')).toMatchObject({ role: 'consensus', documents: 2 })
  expect(await move('opensearch')).toEqual([])
  const status = (await holdings(folder, env)).find(({ role }) => role === 'consensus')
  expect(status?.documents).toMatchObject({ session: 2 })
  expect((await check(folder, env, () => undefined)).flatMap(({ faults }) => faults)).toEqual([])
  await expect(serve({ folder, env: {} })).rejects.toThrow(/are in opensearch/)
  const running = await serve({ folder, env, clock: world.clock })
  const { token: other } = await operatorOf(world)
  const url = running.urls.consensus?.find((each) => each.startsWith('http')) ?? ''
  for (const session of before) {
    const { json } = await httpCall(url, 'GET', `/api/v2/consensus/session/${session.id}`, undefined, { token: other })
    expect(json).toEqual(JSON.parse(JSON.stringify(session)))
  }
  await running.stop()
  // What an earlier move has left is removed on demand alone.
  await expect(move('sqlite')).rejects.toThrow(/2 documents of session/)
  const back = await move('sqlite', true)
  expect(back.filter(({ collection }) => collection !== 'checkpoint')).toEqual(
    moved.filter(({ collection }) => collection !== 'checkpoint'),
  )
  await world.start()
  const again = await operatorOf(world)
  expect(await Promise.all(made.map(({ id }) => again.ok(get, { id })))).toEqual(before)
})
