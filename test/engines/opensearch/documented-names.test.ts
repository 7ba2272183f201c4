// Collections under their documented names in a real cluster: aliases, documented fields, other sites, earlier releases.
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest'
import * as z from 'zod'
import { openCluster } from '../../../adapters/store/opensearch/cluster/cluster.ts'
import { knownCluster } from '../../../adapters/store/opensearch/cluster/known-cluster.ts'
import type { ClusterStore } from '../../../adapters/store/opensearch/cluster-store.ts'
import { opensearchStore } from '../../../adapters/store/opensearch/store.ts'
import { sqliteAudit } from '../../../adapters/store/sqlite/audit/audit.ts'
import { sqlitePendingAudit } from '../../../adapters/store/sqlite/audit/pending-audit.ts'
import { documentsCluster } from '../../../adapters/store/sqlite/documents/documents-cluster.ts'
import { sqliteFile } from '../../../adapters/store/sqlite/sqlite-file.ts'
import { type AnyCollection, type Collection, collection } from '../../../daemon/kernel/store/store.ts'
import { intelligenceProfile } from '../../roles/intelligence/intelligence-site.ts'
import { type OpenSearch, opensearchRequirement } from '../../support/engines/opensearch.ts'
import { sharedOpenSearch } from '../../support/engines/shared-servers.ts'
import { whenPresent } from '../../support/runner/requires.ts'
import { startTestSite } from '../../support/site/test-site.ts'

const where = whenPresent(opensearchRequirement)
const waiting = { timeout: 60_000 }
let server: OpenSearch
let folder: string
let name: string
const closes: (() => Promise<void>)[] = []

beforeAll(async () => {
  if (!opensearchRequirement.isPresent) return
  server = sharedOpenSearch()
  await server.start()
})
afterAll(async () => {
  await server?.end()
})
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'names-'))
  name = `names-${randomUUID()}`
})
afterEach(async () => {
  for (const close of closes.splice(0)) await close()
  rmSync(folder, { recursive: true, force: true })
})

const pipeline = z.strictObject({
  tenant_id: z.string(),
  subtype: z.string(),
  visibility: z.string(),
  runs: z.int().nullable(),
})
const plain = collection({ name: 'data-ingest', schema: pipeline, indexes: ['subtype'] })
const pipelines = collection({
  name: 'data-ingest',
  schema: pipeline,
  indexes: ['subtype', 'visibility', 'runs'],
  documented: {
    alias: 'data-ingest',
    fields: { uid: 'id', subtype: 'subtype', 'uds.visibility': 'visibility', 'uds.inner.runs': 'runs' },
  },
})
const metrics = collection({
  ...pipelines,
  name: 'workflow-metrics',
  documented: { alias: 'workflow-metrics', fields: { uid: 'id' } },
})

const buildPipeline = (subtype: string) => ({ tenant_id: 'alpha', subtype, visibility: 'public', runs: 3 })

/** A store of a site, with a database of its own for each call with another site. */
function openStore(site: string, collections: readonly Collection[], alias_prefix = `${name}.`): ClusterStore {
  const file = sqliteFile({ file: path.join(folder, `${site}.db`), addonDir: folder })
  const base = `${name}.${site}.`
  const place = { memory: documentsCluster(file), base }
  const cluster = knownCluster(openCluster({ url: server.url, verify: true, timeout_ms: 20_000 }), place)
  const pendingAudit = sqlitePendingAudit(file, sqliteAudit(file, `test@${site}`))
  const prefix = `${base}ingest.`
  const options = { ...place, pendingAudit, collections, prefix, alias_prefix, replicas: 0, scroll: '1m' }
  const store = opensearchStore(cluster, options)
  closes.push(async () => {
    await store.close()
    await file.close()
  })
  return store
}

const asAny = (...all: AnyCollection[]) => all as unknown as readonly Collection[]

/** Ids found by a query on a documented name, as other software asks. */
async function find(alias: string, query: object): Promise<string[]> {
  await server.request('POST', `/${alias}/_refresh`)
  const body = { query, sort: [{ uid: 'asc' }] }
  const found = (await server.request('POST', `/${alias}/_search`, body)) as {
    hits: { hits: { _source: { id: string } }[] }
  }
  return found.hits.hits.map(({ _source }) => _source.id)
}

where('a collection with a hyphen is found by its documented name and fields', async () => {
  const store = openStore('alpha', asAny(pipelines))
  await store.create(pipelines, 'p1', buildPipeline('datapipeline'))
  await store.create(pipelines, 'p2', buildPipeline('dataeffect'))
  const alias = `${name}.data-ingest`
  expect(await find(alias, { term: { subtype: 'dataeffect' } })).toEqual(['p2'])
  expect(await find(alias, { ids: { values: ['p1'] } })).toEqual(['p1'])
  expect(await find(alias, { term: { uid: 'p1' } })).toEqual(['p1'])
  expect(await find(alias, { term: { 'uds.visibility': 'public' } })).toEqual(['p1', 'p2'])
  expect(await find(alias, { range: { 'uds.inner.runs': { gt: 3 } } })).toEqual([])
  expect(await store.list(pipelines, { filter: { subtype: 'dataeffect' }, limit: 9, fresh: true })).toMatchObject({
    docs: [{ id: 'p2' }],
  })
  expect(await store.check()).toEqual([])
})

where('nobody writes by a documented name', async () => {
  await openStore('alpha', asAny(pipelines)).create(pipelines, 'p1', buildPipeline('datapipeline'))
  const writing = server.request('POST', `/${name}.data-ingest/_doc/x`, { id: 'x' })
  await expect(writing).rejects.toThrow(/write index/)
})

where('an index of an earlier release gets its names and fields when it is opened', async () => {
  const before = openStore('alpha', asAny(plain))
  await before.create(plain, 'p1', buildPipeline('datapipeline'))
  for (const close of closes.splice(0)) await close()
  await expect(server.request('GET', `/${name}.data-ingest/_alias`)).rejects.toThrow()
  const after = openStore('alpha', asAny(pipelines))
  expect(await after.count(pipelines, {}, { fresh: true })).toBe(1)
  expect(await find(`${name}.data-ingest`, { term: { 'uds.visibility': 'public' } })).toEqual(['p1'])
})

where('collections that share a documented name are found together, and removed ones stay away', async () => {
  const shared = { alias: 'fusion', fields: { uid: 'id' } } as const
  const [lenses, runs] = [
    { ...pipelines, name: 'lens', documented: shared },
    { ...pipelines, name: 'run', documented: shared },
  ]
  const store = openStore('alpha', asAny(lenses, runs))
  await store.create(lenses, 'l1', buildPipeline('lens'))
  await store.create(runs, 'r1', buildPipeline('run'))
  expect(await find(`${name}.fusion`, { match_all: {} })).toEqual(['l1', 'r1'])
  await store.remove(lenses, 'l1')
  expect(await find(`${name}.fusion`, { match_all: {} })).toEqual(['r1'])
})

where('a name that another site has is refused, and its index is left alone', async () => {
  const alpha = openStore('alpha', asAny(pipelines))
  await alpha.create(pipelines, 'p1', buildPipeline('datapipeline'))
  const bravo = openStore('bravo', asAny(pipelines, metrics))
  await expect(bravo.create(pipelines, 'b1', buildPipeline('datapipeline'))).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringMatching(/data-ingest leads to .*\.alpha\.ingest\.data-ingest-1: set search.alias_prefix/),
  })
  expect(await bravo.create(metrics, 'm1', buildPipeline('run'))).toMatchObject({ version: 1 })
  expect(await find(`${name}.data-ingest`, { match_all: {} })).toEqual(['p1'])
  const moved = openStore('charlie', asAny(pipelines), `${name}.charlie-`)
  expect(await moved.create(pipelines, 'c1', buildPipeline('datapipeline'))).toMatchObject({ version: 1 })
  expect(await find(`${name}.charlie-data-ingest`, { match_all: {} })).toEqual(['c1'])
})

where('of two sites that take a name at once, at most one has it', async () => {
  const stores = ['alpha', 'bravo'].map((site) => openStore(site, asAny(pipelines)))
  await Promise.allSettled(stores.map((store) => store.create(pipelines, 'p1', buildPipeline('datapipeline'))))
  const answer = await server.request('GET', `/${name}.*/_alias/${name}.data-ingest`).catch(() => ({}))
  const holders = Object.entries(answer as Record<string, { aliases: object }>)
  expect(holders.filter(([, { aliases }]) => `${name}.data-ingest` in aliases).length).toBeLessThan(2)
})

where('an index that others made under the documented name is refused', async () => {
  await server.request('PUT', `/${name}.data-ingest`)
  const writing = openStore('alpha', asAny(pipelines)).create(pipelines, 'p1', buildPipeline('datapipeline'))
  await expect(writing).rejects.toThrow(/alias_prefix/)
})

where('a role whose names belong to another site does not start, and says which index has them', async () => {
  const env = {
    ...{ SEARCH_HOST: server.url, SEARCH_INDEX_PREFIX: name, SEARCH_REPLICAS: '0', SEARCH_TIMEOUT: '10' },
    SEARCH_ALIAS_PREFIX: `${name}-shared.`,
  }
  const foreign = `${name}.zulu.intelligence.signal-1`
  await server.request('PUT', `/${foreign}`, { aliases: { [`${name}-shared.signal`]: {} } })
  const site = await startTestSite({ profile: intelligenceProfile, env })
  closes.push(() => site.end())
  expect(site.loggedErrors).toEqual([expect.stringMatching(/^platform\.role\.failed .*search\.alias_prefix/)])
  expect(site.loggedErrors[0]).toContain(`${name}-shared.signal leads to ${foreign}`)
  await server.request('DELETE', `/${foreign}`)
  await site.restart()
  expect(site.loggedErrors).toHaveLength(1)
  await expect
    .poll(
      async () => Object.keys((await server.request('GET', `/${name}*/_alias/${name}-shared.*`)) as object),
      waiting,
    )
    .toEqual([`${name}.alpha.intelligence.signal-1`])
})
