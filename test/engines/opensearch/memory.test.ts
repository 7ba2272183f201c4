// A site knows its cluster and its indexes: another cluster, another prefix or a lost index never counts as a new beginning.
import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import { serve } from '../../../daemon/boot/serve.ts'
import { everyRole } from '../../../daemon/every-role.ts'
import { withSiteDatabase } from '../../../daemon/offline/audit/operator-action.ts'
import { adoptAnsweringCluster } from '../../../daemon/offline/store/store-adoption.ts'
import { checkDatabases } from '../../../daemon/offline/store/store-files.ts'
import { migrateStore } from '../../../daemon/offline/store/store-migration.ts'
import { contribute } from '../../../daemon/roles/consensus/session/contribute.ts'
import { create } from '../../../daemon/roles/consensus/session/create.ts'
import { get } from '../../../daemon/roles/consensus/session/get.ts'
import { list } from '../../../daemon/roles/consensus/session/list.ts'
import {
  buildOpinionInput,
  buildSessionInput,
  createOperator,
  startConsensusSite,
} from '../../roles/consensus/consensus-site.ts'
import { type OpenSearch, opensearch, opensearchRequirement } from '../../support/engines/opensearch.ts'
import { whenPresent } from '../../support/runner/requires.ts'
import type { TestSite } from '../../support/site/test-site.ts'

const where = whenPresent(opensearchRequirement)
const waitOptions = { timeout: 60_000 }
let server: OpenSearch
let prefix: string
let site: TestSite

beforeAll(async () => {
  if (!opensearchRequirement.isPresent) return
  server = await opensearch()
  await server.start()
})
afterAll(async () => {
  await server?.end()
})
afterEach(async () => {
  await site?.end()
})

function buildSections(index_prefix = prefix) {
  return { SEARCH_HOST: server.url, SEARCH_INDEX_PREFIX: index_prefix, SEARCH_REPLICAS: '0', SEARCH_TIMEOUT: '10' }
}

/** A running site with a session that has one contribution; a write by name makes an index of that name, as is the default. */
async function startSiteWithSession() {
  await server.request('PUT', '/_cluster/settings', { persistent: { 'action.auto_create_index': 'true' } })
  prefix = `memory-${randomUUID()}`
  site = await startConsensusSite({ env: buildSections(), contributors: ['c1', 'c2', 'c3'] })
  const person = await createOperator(site)
  const { id } = await person.ok(create, buildSessionInput({ m: 2, n: 3 }))
  await person.ok(contribute, { id, ...buildOpinionInput('c1', 0.9) })
  // The sweep at the start makes the others: one that is made after a snapshot is not in it.
  const collections = everyRole
    .filter(({ name }) => /^(site|consensus)$/.test(name))
    .flatMap((each) => each.collections)
  await expect.poll(() => listIndexes(), waitOptions).toHaveLength(collections.length + 1)
  return { person, id, sessions: `${prefix}.alpha.consensus.session` }
}

async function listIndexes(of: string = prefix): Promise<string[]> {
  const found = (await server.request('GET', `/${of}*/_alias`)) as Record<string, unknown>
  return Object.keys(found).sort()
}

async function readHealth(): Promise<string> {
  const token = await site.token({ roles: ['operator'] })
  const { status, json } = await site.call('consensus', 'GET', '/api/v2/health', undefined, { token })
  return `${status} ${(json as { detail?: string; status?: string }).detail ?? 'ok'}`
}

async function takeSnapshot(): Promise<void> {
  const location = `${server.folder}/snapshots`
  await server.request('PUT', '/_snapshot/kept', { type: 'fs', settings: { location } })
  await server.request('PUT', `/_snapshot/kept/${prefix}?wait_for_completion=true`, { indices: `${prefix}*` })
}

async function restoreSnapshot(indices = `${prefix}*`): Promise<void> {
  await server.request('PUT', '/_snapshot/kept', { type: 'fs', settings: { location: `${server.folder}/snapshots` } })
  await server.request('POST', `/_snapshot/kept/${prefix}/_restore?wait_for_completion=true`, { indices })
}

async function listAdoptions() {
  return await withSiteDatabase(site.folder, buildSections(), async (_file, audit) => {
    const all = await audit.list({ limit: 10_000, ascending: true })
    return all.flatMap(({ event }) => (event?.action === 'site.store.adopt' ? [event.detail] : []))
  })
}

where(
  'an index that is deleted under a running site is missed and never made anew, until it is restored',
  async () => {
    const { person, id, sessions } = await startSiteWithSession()
    await takeSnapshot()
    await server.request('DELETE', `/${sessions}-1`)
    const refusals = async () => {
      const wanted = buildSessionInput({ m: 2, n: 3 })
      const tries = [person.call(create, wanted), person.call(get, { id }), person.call(list, {})] as const
      const more = person.call(contribute, { id, ...buildOpinionInput('c2', 0.9) })
      return (await Promise.all([...tries, more])).map(({ status, problem }) => `${status} ${problem?.code}`)
    }
    const all = Array.from({ length: 4 }, () => '503 unavailable')
    expect(await refusals()).toEqual(all)
    expect(await listIndexes()).not.toContain(expect.stringContaining('session'))
    await expect.poll(() => site.loggedErrors.join(), waitOptions).toContain(`platform.index.lost`)
    expect(site.loggedErrors.filter((each) => each.includes('index.lost'))).toEqual([expect.stringContaining(sessions)])
    expect(await readHealth()).toContain(`lost: ${sessions}: restore from a snapshot`)
    // Somebody else makes an index of that name by writing to it: an empty one, to those who look no further.
    await server.request('POST', `/${sessions}/_doc`, { of: 'another' })
    await expect.poll(refusals, waitOptions).toEqual(all)
    await site.restart()
    const again = await createOperator(site)
    expect(await again.call(list, {})).toMatchObject({ status: 503 })
    expect(await readHealth()).toContain(`lost: ${sessions}`)
    const faults = (await checkDatabases(site.folder, buildSections(), () => undefined)).flatMap((each) => each.faults)
    expect(faults).toEqual([expect.stringMatching(/session is lost: restore it from a snapshot/)])
    await server.request('DELETE', `/${sessions}`)
    expect(await again.call(create, buildSessionInput({ m: 2, n: 3 }))).toMatchObject({ status: 503 })
    await restoreSnapshot(`${sessions}-1`)
    await expect.poll(readHealth, waitOptions).toBe('200 ok')
    expect(await again.ok(get, { id })).toMatchObject({ contributors: 1 })
    await again.ok(contribute, { id, ...buildOpinionInput('c2', 0.9) })
  },
  120_000,
)

where('a lost index is given up on purpose, on record, and only then made anew', async () => {
  const { id, sessions } = await startSiteWithSession()
  await site.stop()
  await server.request('DELETE', `/${sessions}-1`)
  await server.request('DELETE', `/${prefix}.alpha.audit-1`)
  const lacks = new RegExp(`the cluster lacks .*${sessions}`)
  await expect(adoptAnsweringCluster(site.folder, buildSections(), { give_up: false })).rejects.toThrow(lacks)
  await expect(
    migrateStore(site.folder, buildSections(), { to: 'sqlite', replace: true }, () => undefined),
  ).rejects.toThrow(lacks)
  expect(await listIndexes()).not.toContain(`${sessions}-1`)
  await adoptAnsweringCluster(site.folder, buildSections(), { give_up: true })
  await site.start()
  const person = await createOperator(site)
  expect(await person.call(get, { id })).toMatchObject({ status: 404 })
  await person.ok(create, buildSessionInput({ m: 2, n: 3 }))
  const given_up = expect.arrayContaining([sessions])
  expect(await listAdoptions()).toMatchObject([{ role: 'site' }, { role: 'consensus', given_up }])
  // The chain is here, and is copied again from its first record.
  const first = `/${prefix}.alpha.audit/_doc/consensus@alpha:${'1'.padStart(16, '0')}`
  await expect
    .poll(() => server.request('GET', first).catch(() => undefined), waitOptions)
    .toMatchObject({ found: true })
})

where('under another prefix a site does not start, and makes nothing there', async () => {
  await startSiteWithSession()
  await site.stop()
  const other = `other-${randomUUID()}`
  const env = buildSections(other)
  const refused = serve({ folder: site.folder, env })
  await expect(refused).rejects.toMatchObject({
    name: 'StartRefusal',
    problems: [{ path: 'search.index_prefix', message: expect.stringContaining('platform store migrate files') }],
  })
  await expect(adoptAnsweringCluster(site.folder, env, { give_up: true })).rejects.toThrow(/search.index_prefix/)
  expect(await listIndexes(other)).toEqual([])
  // The remedy that is named.
  await migrateStore(site.folder, buildSections(), { to: 'sqlite', replace: false }, () => undefined)
  const before = await listIndexes()
  await migrateStore(site.folder, env, { to: 'opensearch', replace: false }, () => undefined)
  const running = await serve({ folder: site.folder, env, clock: site.clock })
  await running.stop()
  expect(await listIndexes()).toEqual(before)
  await expect(serve({ folder: site.folder, env: buildSections() })).rejects.toThrow(/search.index_prefix/)
})

where(
  'another cluster at the same address is not taken for ours, until an operator says that it was restored',
  async () => {
    const { id } = await startSiteWithSession()
    await takeSnapshot()
    // Where the cluster is away at the start it is looked at when it comes.
    await server.kill()
    await site.restart()
    await server.renew()
    const foreign = 'this is not the cluster that the documents are in'
    await expect.poll(() => site.loggedErrors.join(), waitOptions).toContain(foreign)
    const person = await createOperator(site)
    expect(await person.call(create, buildSessionInput({ m: 2, n: 3 }))).toMatchObject({ status: 503 })
    expect(await person.call(get, { id })).toMatchObject({ status: 503 })
    expect(await readHealth()).toContain(foreign)
    expect(await listIndexes()).toEqual([])
    await expect(adoptAnsweringCluster(site.folder, buildSections(), { give_up: false })).rejects.toThrow(/is running/)
    await site.stop()
    await expect(site.start()).rejects.toMatchObject({
      name: 'StartRefusal',
      problems: [{ path: 'search.host', message: expect.stringContaining('platform store adopt') }],
    })
    const faults = (await checkDatabases(site.folder, buildSections(), () => undefined)).flatMap((each) => each.faults)
    expect(faults).toContainEqual(expect.stringContaining('platform store adopt'))
    await expect(adoptAnsweringCluster(site.folder, buildSections(), { give_up: false })).rejects.toThrow(
      /the cluster lacks/,
    )
    await restoreSnapshot()
    const adopted = await adoptAnsweringCluster(site.folder, buildSections(), { give_up: false })
    expect(adopted.map(({ role, given_up }) => ({ role, given_up }))).toEqual([
      { role: 'site', given_up: [] },
      { role: 'consensus', given_up: [] },
    ])
    await site.start()
    const again = await createOperator(site)
    expect(await again.ok(get, { id })).toMatchObject({ contributors: 1 })
    await again.ok(contribute, { id, ...buildOpinionInput('c2', 0.9) })
    expect(await listAdoptions()).toMatchObject(adopted.map(({ role, from }) => ({ role, from, given_up: [] })))
    expect(await readHealth()).toBe('200 ok')
  },
  180_000,
)
