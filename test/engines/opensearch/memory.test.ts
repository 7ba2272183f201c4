// A site knows its cluster and the indexes that it made: another cluster, another prefix or a lost index is no new beginning.
import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import { withSiteFile } from '../../../daemon/boot/offline/deed.ts'
import { adopt } from '../../../daemon/boot/offline/store-adoption.ts'
import { check } from '../../../daemon/boot/offline/store-files.ts'
import { migrate } from '../../../daemon/boot/offline/store-migration.ts'
import { serve } from '../../../daemon/boot/serve.ts'
import { everyRole } from '../../../daemon/every-role.ts'
import { contribute } from '../../../daemon/roles/consensus/session/contribute.ts'
import { create } from '../../../daemon/roles/consensus/session/create.ts'
import { get } from '../../../daemon/roles/consensus/session/get.ts'
import { list } from '../../../daemon/roles/consensus/session/list.ts'
import { asked, consensusWorld, operatorOf, opinion } from '../../roles/consensus/consensus-world.ts'
import { type OpenSearch, opensearch, opensearchWanted } from '../../support/engines/opensearch.ts'
import { whenPresent } from '../../support/requires.ts'
import type { SiteWorld } from '../../support/site-world.ts'

const where = whenPresent(opensearchWanted)
const patient = { timeout: 60_000 }
let server: OpenSearch
let prefix: string
let site: SiteWorld

beforeAll(async () => {
  if (!opensearchWanted.isPresent) return
  server = await opensearch()
  await server.start()
})
afterAll(async () => {
  await server?.end()
})
afterEach(async () => {
  await site?.end()
})

function settings(index_prefix = prefix) {
  return { SEARCH_HOST: server.url, SEARCH_INDEX_PREFIX: index_prefix, SEARCH_REPLICAS: '0', SEARCH_TIMEOUT: '10' }
}

/** A running site with a session that has one contribution; whatever writes by a name makes an index of it, as is the default. */
async function aSiteWithSession() {
  await server.ask('PUT', '/_cluster/settings', { persistent: { 'action.auto_create_index': 'true' } })
  prefix = `memory-${randomUUID()}`
  site = await consensusWorld({ env: settings(), contributors: ['c1', 'c2', 'c3'] })
  const person = await operatorOf(site)
  const { id } = await person.ok(create, asked({ m: 2, n: 3 }))
  await person.ok(contribute, { id, ...opinion('c1', 0.9) })
  // The sweep at the start makes the others: one that is made after a snapshot is not in it.
  const collections = everyRole
    .filter(({ name }) => /^(site|consensus)$/.test(name))
    .flatMap((each) => each.collections)
  await expect.poll(() => indexes(), patient).toHaveLength(collections.length + 1)
  return { person, id, sessions: `${prefix}.alpha.consensus.session` }
}

async function indexes(of: string = prefix): Promise<string[]> {
  const found = (await server.ask('GET', `/${of}*/_alias`)) as Record<string, unknown>
  return Object.keys(found).sort()
}

async function health(): Promise<string> {
  const token = await site.token({ roles: ['operator'] })
  const { status, json } = await site.call('consensus', 'GET', '/api/v2/health', undefined, { token })
  return `${status} ${(json as { detail?: string; status?: string }).detail ?? 'ok'}`
}

async function snapshot(): Promise<void> {
  const location = `${server.folder}/snapshots`
  await server.ask('PUT', '/_snapshot/kept', { type: 'fs', settings: { location } })
  await server.ask('PUT', `/_snapshot/kept/${prefix}?wait_for_completion=true`, { indices: `${prefix}*` })
}

async function restore(indices = `${prefix}*`): Promise<void> {
  await server.ask('PUT', '/_snapshot/kept', { type: 'fs', settings: { location: `${server.folder}/snapshots` } })
  await server.ask('POST', `/_snapshot/kept/${prefix}/_restore?wait_for_completion=true`, { indices })
}

async function adoptions() {
  return await withSiteFile(site.folder, settings(), async (_file, audit) => {
    const all = await audit.list({ limit: 10_000, ascending: true })
    return all.flatMap(({ event }) => (event?.action === 'site.store.adopt' ? [event.detail] : []))
  })
}

where(
  'an index that is deleted under a running site is missed and never made anew, until it is restored',
  async () => {
    const { person, id, sessions } = await aSiteWithSession()
    await snapshot()
    await server.ask('DELETE', `/${sessions}-1`)
    const refusals = async () => {
      const wanted = asked({ m: 2, n: 3 })
      const tries = [person.ask(create, wanted), person.ask(get, { id }), person.ask(list, {})] as const
      const more = person.ask(contribute, { id, ...opinion('c2', 0.9) })
      return (await Promise.all([...tries, more])).map(({ status, problem }) => `${status} ${problem?.code}`)
    }
    const all = Array.from({ length: 4 }, () => '503 unavailable')
    expect(await refusals()).toEqual(all)
    expect(await indexes()).not.toContain(expect.stringContaining('session'))
    await expect.poll(() => site.faults.join(), patient).toContain(`platform.index.lost`)
    expect(site.faults.filter((each) => each.includes('index.lost'))).toEqual([expect.stringContaining(sessions)])
    expect(await health()).toContain(`lost: ${sessions}: restore from a snapshot`)
    // Somebody else makes an index of that name by writing to it: an empty one, to those who look no further.
    await server.ask('POST', `/${sessions}/_doc`, { of: 'another' })
    await expect.poll(refusals, patient).toEqual(all)
    await site.restart()
    const again = await operatorOf(site)
    expect(await again.ask(list, {})).toMatchObject({ status: 503 })
    expect(await health()).toContain(`lost: ${sessions}`)
    const faults = (await check(site.folder, settings(), () => undefined)).flatMap((each) => each.faults)
    expect(faults).toEqual([expect.stringMatching(/session is lost: restore it from a snapshot/)])
    await server.ask('DELETE', `/${sessions}`)
    expect(await again.ask(create, asked({ m: 2, n: 3 }))).toMatchObject({ status: 503 })
    await restore(`${sessions}-1`)
    await expect.poll(health, patient).toBe('200 ok')
    expect(await again.ok(get, { id })).toMatchObject({ contributors: 1 })
    await again.ok(contribute, { id, ...opinion('c2', 0.9) })
  },
  120_000,
)

where('what is lost for good is given up on purpose, on record, and only then made anew', async () => {
  const { id, sessions } = await aSiteWithSession()
  await site.stop()
  await server.ask('DELETE', `/${sessions}-1`)
  await server.ask('DELETE', `/${prefix}.alpha.audit-1`)
  const lacks = new RegExp(`the cluster lacks .*${sessions}`)
  await expect(adopt(site.folder, settings(), { give_up: false })).rejects.toThrow(lacks)
  await expect(migrate(site.folder, settings(), { to: 'sqlite', replace: true }, () => undefined)).rejects.toThrow(
    lacks,
  )
  expect(await indexes()).not.toContain(`${sessions}-1`)
  await adopt(site.folder, settings(), { give_up: true })
  await site.start()
  const person = await operatorOf(site)
  expect(await person.ask(get, { id })).toMatchObject({ status: 404 })
  await person.ok(create, asked({ m: 2, n: 3 }))
  const given_up = expect.arrayContaining([sessions])
  expect(await adoptions()).toMatchObject([{ role: 'site' }, { role: 'consensus', given_up }])
  // The chain is here, and is copied again from its first record.
  const first = `/${prefix}.alpha.audit/_doc/consensus@alpha:${'1'.padStart(16, '0')}`
  await expect.poll(() => server.ask('GET', first).catch(() => undefined), patient).toMatchObject({ found: true })
})

where('under another prefix a site does not start, and makes nothing there', async () => {
  await aSiteWithSession()
  await site.stop()
  const other = `other-${randomUUID()}`
  const env = settings(other)
  const refused = serve({ folder: site.folder, env })
  await expect(refused).rejects.toMatchObject({
    name: 'StartRefused',
    problems: [{ path: 'search.index_prefix', message: expect.stringContaining('platform store migrate files') }],
  })
  await expect(adopt(site.folder, env, { give_up: true })).rejects.toThrow(/search.index_prefix/)
  expect(await indexes(other)).toEqual([])
  // The remedy that is named.
  await migrate(site.folder, settings(), { to: 'sqlite', replace: false }, () => undefined)
  const before = await indexes()
  await migrate(site.folder, env, { to: 'opensearch', replace: false }, () => undefined)
  const running = await serve({ folder: site.folder, env, clock: site.clock })
  await running.stop()
  expect(await indexes()).toEqual(before)
  await expect(serve({ folder: site.folder, env: settings() })).rejects.toThrow(/search.index_prefix/)
})

where(
  'another cluster at the same address is not taken for ours, until an operator says that it was restored',
  async () => {
    const { id } = await aSiteWithSession()
    await snapshot()
    // Where the cluster is away at the start it is looked at when it comes.
    await server.kill()
    await site.restart()
    await server.renew()
    const foreign = 'this is not the cluster that the documents are in'
    await expect.poll(() => site.faults.join(), patient).toContain(foreign)
    const person = await operatorOf(site)
    expect(await person.ask(create, asked({ m: 2, n: 3 }))).toMatchObject({ status: 503 })
    expect(await person.ask(get, { id })).toMatchObject({ status: 503 })
    expect(await health()).toContain(foreign)
    expect(await indexes()).toEqual([])
    await expect(adopt(site.folder, settings(), { give_up: false })).rejects.toThrow(/runs/)
    await site.stop()
    await expect(site.start()).rejects.toMatchObject({
      name: 'StartRefused',
      problems: [{ path: 'search.host', message: expect.stringContaining('platform store adopt') }],
    })
    const faults = (await check(site.folder, settings(), () => undefined)).flatMap((each) => each.faults)
    expect(faults).toContainEqual(expect.stringContaining('platform store adopt'))
    await expect(adopt(site.folder, settings(), { give_up: false })).rejects.toThrow(/the cluster lacks/)
    await restore()
    const adopted = await adopt(site.folder, settings(), { give_up: false })
    expect(adopted.map(({ role, given_up }) => ({ role, given_up }))).toEqual([
      { role: 'site', given_up: [] },
      { role: 'consensus', given_up: [] },
    ])
    await site.start()
    const again = await operatorOf(site)
    expect(await again.ok(get, { id })).toMatchObject({ contributors: 1 })
    await again.ok(contribute, { id, ...opinion('c2', 0.9) })
    expect(await adoptions()).toMatchObject(adopted.map(({ role, from }) => ({ role, from, given_up: [] })))
    expect(await health()).toBe('200 ok')
  },
  180_000,
)
