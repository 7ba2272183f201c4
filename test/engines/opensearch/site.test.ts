// A whole site whose documents are in a real cluster: sessions over HTTP, the cluster's deaths, and its absence at the start.
import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import { sqliteAudit } from '../../../adapters/store/sqlite/audit/audit.ts'
import { sqlitePendingAudit } from '../../../adapters/store/sqlite/audit/pending-audit.ts'
import { recordDocumentsHome } from '../../../adapters/store/sqlite/documents/documents-home.ts'
import { sqliteFile } from '../../../adapters/store/sqlite/sqlite-file.ts'
import { serve } from '../../../daemon/boot/serve.ts'
import { ensureRunFolder } from '../../../daemon/boot/storage/role-storage.ts'
import { roleDatabaseFile } from '../../../daemon/boot/storage/site-folder.ts'
import { checkDatabases, readStoreStatus } from '../../../daemon/offline/store/store-files.ts'
import { migrateStore } from '../../../daemon/offline/store/store-migration.ts'
import { contribute } from '../../../daemon/roles/consensus/session/contribute.ts'
import { create } from '../../../daemon/roles/consensus/session/create.ts'
import { get } from '../../../daemon/roles/consensus/session/get.ts'
import { list } from '../../../daemon/roles/consensus/session/list.ts'
import { buildEvent } from '../../conformance/store-requirement.ts'
import {
  buildOpinionInput,
  buildSessionInput,
  createOperator,
  startConsensusSite,
} from '../../roles/consensus/consensus-site.ts'
import { type OpenSearch, opensearchRequirement } from '../../support/engines/opensearch.ts'
import { sharedOpenSearch } from '../../support/engines/shared-servers.ts'
import { sendHttpRequest } from '../../support/http/send-http-request.ts'
import { whenPresent } from '../../support/runner/requires.ts'
import { type TestSite, waitUntil } from '../../support/site/test-site.ts'

const where = whenPresent(opensearchRequirement)
let server: OpenSearch
let prefix: string
let world: TestSite | undefined

beforeAll(async () => {
  if (!opensearchRequirement.isPresent) return
  server = sharedOpenSearch()
  await server.start()
})
afterAll(async () => {
  await server?.end()
})
afterEach(async () => {
  await world?.end()
  world = undefined
})

async function startSite(): Promise<TestSite> {
  world = await startConsensusSite({ env: buildClusterSections(), contributors: ['c1', 'c2', 'c3'] })
  return world
}

function buildClusterSections() {
  prefix = `site-${randomUUID()}`
  return buildClusterSectionsFor(prefix)
}

function buildClusterSectionsFor(prefix: string) {
  return { SEARCH_HOST: server.url, SEARCH_INDEX_PREFIX: prefix, SEARCH_REPLICAS: '0', SEARCH_TIMEOUT: '10' }
}

const sessionInput = buildSessionInput({ m: 2, n: 3 })

async function readHealth(site: TestSite, role: string): Promise<string> {
  const token = await site.token({ roles: ['operator'] })
  const { status, json } = await site.call(role, 'GET', '/api/v2/health', undefined, { token })
  return `${status} ${(json as { detail?: string; status?: string }).detail ?? (json as { status: string }).status}`
}

async function countOf(index: string): Promise<number> {
  await server.request('POST', `/${index}/_refresh`)
  return ((await server.request('GET', `/${index}/_count`)) as { count: number }).count
}

where('a session lives in the cluster, its audit chain here, and copies of that there', async () => {
  const site = await startSite()
  const person = await createOperator(site)
  const { id } = await person.ok(create, sessionInput)
  await person.ok(contribute, { id, ...buildOpinionInput('c1', 0.9) })
  expect(await person.ok(contribute, { id, ...buildOpinionInput('c2', 0.95) })).toMatchObject({ state: 'RATIFIED' })
  expect(await person.ok(get, { id })).toMatchObject({ state: 'RATIFIED', contributors: 2 })
  await expect
    .poll(async () => (await person.ok(list, {})).items.map((each) => each.id), { timeout: 60_000 })
    .toEqual([id])
  expect(await countOf(`${prefix}.alpha.consensus.session`)).toBe(1)
  expect(await readHealth(site, 'consensus')).toBe('200 ok')
  const token = await site.token({ roles: ['auditor'] })
  const { json } = await site.call('consensus', 'GET', '/api/v2/audit', undefined, { token })
  expect((json as { items: unknown[] }).items.length).toBeGreaterThanOrEqual(3)
  await expect.poll(() => countOf(`${prefix}.alpha.audit`), { timeout: 60_000 }).toBeGreaterThanOrEqual(3)
})

where('without its cluster a site is up and not ready, and says when to come again; then it goes on', async () => {
  const site = await startSite()
  const person = await createOperator(site)
  const { id } = await person.ok(create, sessionInput)
  await server.kill()
  const tries = [person.call(get, { id }), person.call(list, {}), person.call(create, sessionInput)] as const
  for (const { status, problem } of await Promise.all(tries)) {
    expect([status, problem?.code]).toEqual([503, 'unavailable'])
    expect(JSON.stringify(problem)).not.toContain('127.0.0.1')
  }
  const token = await site.token({ roles: ['operator'] })
  const refused = await site.call('consensus', 'GET', `/api/v2/consensus/session/${id}`, undefined, { token })
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  expect((await site.call('consensus', 'GET', '/health')).status).toBe(503)
  expect(await readHealth(site, 'consensus')).toMatch(/^503 the store is not ready: opensearch: no connection/)
  await site.restart()
  expect((await site.call('consensus', 'GET', '/health')).status).toBe(503)
  await server.start()
  await expect.poll(() => readHealth(site, 'consensus'), { timeout: 60_000 }).toBe('200 ok')
  const again = await createOperator(site)
  await again.ok(contribute, { id, ...buildOpinionInput('c1', 0.9) })
  expect(await again.ok(contribute, { id, ...buildOpinionInput('c3', 0.9) })).toMatchObject({ state: 'RATIFIED' })
})

where('documents are in one place: a site that has them in the cluster does not begin anew without it', async () => {
  const site = await startSite()
  await (await createOperator(site)).ok(create, sessionInput)
  await site.stop()
  await expect(serve({ folder: site.folder, env: {} })).rejects.toThrow(/are in opensearch.*platform store migrate/)
  await site.start()
  expect(await readHealth(site, 'consensus')).toBe('200 ok')
})

where('a write that is pending when a site moves is sealed under the name that the role starts with', async () => {
  const site = await startSite()
  await (await createOperator(site)).ok(create, sessionInput)
  await site.stop()
  const { folder } = site
  const env = buildClusterSectionsFor(prefix)
  // A chain without records yet, and the removal of a document that is gone: done, by the look of it.
  const database = roleDatabaseFile(folder, 'consensus')
  for (const end of ['', '-wal', '-shm']) rmSync(`${database}${end}`, { force: true })
  const file = sqliteFile({ file: database, addonDir: ensureRunFolder(folder, 'consensus') })
  const pending = sqlitePendingAudit(file, sqliteAudit(file, 'consensus@alpha'))
  const replaces = { _seq_no: 0, _primary_term: 1 }
  const plan = JSON.stringify({ write: 'w1', alias: `${prefix}.alpha.consensus.session`, id: 'gone', replaces })
  await pending.begin({ write: 'w1', plan }, [buildEvent({ target: 'gone' })])
  await recordDocumentsHome(file, 'opensearch')
  await file.close()
  await migrateStore(folder, env, { to: 'sqlite', replace: true }, () => undefined)
  const after = sqliteFile({ file: database, addonDir: ensureRunFolder(folder, 'consensus') })
  const [sealed] = await sqliteAudit(after, 'consensus@alpha').list({ limit: 9, ascending: true })
  await after.close()
  expect(sealed).toMatchObject({ writer: 'consensus@alpha', event: { target: 'gone' } })
  const running = await serve({ folder, env: {}, clock: site.clock })
  await running.stop()
})

where('a site moves into the cluster and back, with every document and version, and proof of it', async () => {
  world = await startConsensusSite({ contributors: ['c1', 'c2', 'c3'] })
  const { folder } = world
  const person = await createOperator(world)
  const made = [await person.ok(create, sessionInput), await person.ok(create, sessionInput)]
  await person.ok(contribute, { id: made[0]?.id ?? '', ...buildOpinionInput('c1', 0.9) })
  await person.ok(contribute, { id: made[0]?.id ?? '', ...buildOpinionInput('c2', 0.9) })
  const env = buildClusterSections()
  const move = (to: 'opensearch' | 'sqlite', replace = false) =>
    migrateStore(folder, env, { to, replace }, () => undefined)
  await expect(move('opensearch')).rejects.toThrow(/is running/)
  const before = await waitUntil(async () => {
    const all = await Promise.all(made.map(({ id }) => person.ok(get, { id })))
    return all.every(({ undelivered }) => undelivered === 0) && all
  })
  await world.stop()
  const moved = await move('opensearch')
  expect(moved.find(({ collection }) => collection === 'session')).toMatchObject({ role: 'consensus', documents: 2 })
  expect(await move('opensearch')).toEqual([])
  const status = (await readStoreStatus(folder, env)).find(({ role }) => role === 'consensus')
  expect(status?.documents).toMatchObject({ session: 2 })
  expect((await checkDatabases(folder, env, () => undefined)).flatMap(({ faults }) => faults)).toEqual([])
  await expect(serve({ folder, env: {} })).rejects.toThrow(/are in opensearch/)
  const running = await serve({ folder, env, clock: world.clock })
  const { token: other } = await createOperator(world)
  const url = running.urls.consensus?.find((each) => each.startsWith('http')) ?? ''
  for (const session of before) {
    const { json } = await sendHttpRequest(url, 'GET', `/api/v2/consensus/session/${session.id}`, undefined, {
      token: other,
    })
    expect(json).toEqual(JSON.parse(JSON.stringify(session)))
  }
  await running.stop()
  // Leftovers of an earlier move are removed on demand alone.
  await expect(move('sqlite')).rejects.toThrow(/2 documents in session/)
  const back = await move('sqlite', true)
  expect(back.filter(({ collection }) => collection !== 'checkpoint')).toEqual(
    moved.filter(({ collection }) => collection !== 'checkpoint'),
  )
  await world.start()
  const again = await createOperator(world)
  expect(await Promise.all(made.map(({ id }) => again.ok(get, { id })))).toEqual(before)
})
