// A cluster with TLS, client certificates and users: who comes in, who does not, and what an error may tell.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect } from 'vitest'
import { type ClusterOptions, cluster } from '../../../adapters/store/opensearch/cluster.ts'
import { knownCluster } from '../../../adapters/store/opensearch/known-cluster.ts'
import { opensearchStore } from '../../../adapters/store/opensearch/store.ts'
import { documentsCluster } from '../../../adapters/store/sqlite/documents-cluster.ts'
import { sqliteOwedAudit } from '../../../adapters/store/sqlite/owed-audit.ts'
import { openSqliteStore } from '../../conformance/store-arms.ts'
import { aNote, notes } from '../../conformance/store-requirement.ts'
import { type OpenSearch, opensearch, secureOpensearchWanted } from '../../support/engines/opensearch.ts'
import { type Certificates, serverCertificates } from '../../support/engines/server-certificates.ts'
import { whenPresent } from '../../support/requires.ts'

const where = whenPresent(secureOpensearchWanted)
const password = 'kept-a-secret-4711'
let folder: string
let server: OpenSearch
let ours: Certificates
let others: Certificates
let known: ClusterOptions

beforeAll(async () => {
  if (!secureOpensearchWanted.isPresent) return
  folder = mkdtempSync(path.join(tmpdir(), 'secure-'))
  ours = serverCertificates('server', 'admin', 'client')
  others = serverCertificates('client')
  server = await opensearch(ours)
  await server.start()
  // All that a site needs: its own indexes, bulk requests, and to ask who the cluster is and how it is.
  await server.ask('PUT', '/_plugins/_security/api/roles/site', {
    cluster_permissions: ['cluster_composite_ops', 'cluster:monitor/health', 'cluster:monitor/main'],
    index_permissions: [{ index_patterns: ['platform.alpha.*'], allowed_actions: ['indices_all'] }],
  })
  await server.ask('PUT', '/_plugins/_security/api/internalusers/alpha', { password })
  await server.ask('PUT', '/_plugins/_security/api/rolesmapping/site', { users: ['alpha'] })
  const { ca: ca_file, cert: cert_file, key: key_file } = ours.of('client')
  known = {
    url: server.url,
    username: 'alpha',
    password,
    ca_file,
    cert_file,
    key_file,
    verify: true,
    timeout_ms: 5_000,
  }
})
afterAll(async () => {
  await server?.end()
  for (const files of [ours, others]) files?.dispose()
  if (folder) rmSync(folder, { recursive: true, force: true })
})

async function withStore<T>(
  options: ClusterOptions,
  prefix: string,
  use: (store: ReturnType<typeof opensearchStore>) => Promise<T>,
) {
  const own = mkdtempSync(path.join(folder, 'store-'))
  const { file, audit } = openSqliteStore(own)
  const owed = sqliteOwedAudit(file, audit)
  const place = { memory: documentsCluster(file), base: prefix }
  const opened = knownCluster(cluster(options), place)
  const store = opensearchStore(opened, { ...place, owed, collections: [notes], prefix, replicas: 0, scroll: '1m' })
  try {
    return await use(store)
  } finally {
    await store.close()
    await file.close()
  }
}

const prefix = 'platform.alpha.consensus.'

where('with its certificate, its user and the right authority a site keeps its documents there', async () => {
  await withStore(known, prefix, async (store) => {
    expect(await store.health()).toMatchObject({ ok: true })
    expect(await store.create(notes, 'n1', aNote())).toMatchObject({ version: 1 })
    expect(await store.put(notes, 'n1', aNote({ count: 1 }), 1)).toMatchObject({ version: 2 })
    expect((await store.list(notes, { limit: 5, fresh: true })).docs).toHaveLength(1)
    expect(await store.countBy(notes, 'kind', {}, { fresh: true })).toEqual(new Map([['red', 1]]))
    expect(await store.remove(notes, 'n1')).toBe('done')
    expect(await store.lost()).toEqual([])
  })
})

where('anything less does not come in, and the refusal keeps every secret', async () => {
  const { cert_file: _cert, key_file: _key, ...without } = known
  const stranger = others.of('client')
  const wrong: readonly [string, ClusterOptions][] = [
    ['another authority than the server’s', { ...known, ca_file: stranger.ca }],
    ['no client certificate', without],
    ['a client certificate of another authority', { ...known, cert_file: stranger.cert, key_file: stranger.key }],
    ['a wrong password', { ...known, password: `${password}x` }],
    ['no user', { ...known, username: undefined, password: undefined }],
    ['plain text', { ...known, url: server.url.replace('https', 'http') }],
  ]
  for (const [what, options] of wrong) {
    await withStore(options, prefix, async (store) => {
      expect([what, (await store.health()).ok]).toEqual([what, false])
      const refused: unknown = await store.create(notes, 'n2', aNote()).catch((error: unknown) => error)
      expect([what, refused]).toMatchObject([what, { code: 'unavailable' }])
      const told = `${JSON.stringify(refused)} ${String(refused)} ${(refused as Error).stack} ${JSON.stringify(await store.health())}`
      expect(told).not.toContain(password)
      expect(told).not.toContain(Buffer.from(`alpha:${password}`).toString('base64'))
    })
  }
  await withStore({ ...known, ca_file: stranger.ca, verify: false }, prefix, async (store) => {
    expect(await store.health()).toMatchObject({ ok: true })
  })
})

where('the indexes of another site are closed to it', async () => {
  await withStore(known, 'platform.bravo.consensus.', async (store) => {
    await expect(store.create(notes, 'n1', aNote())).rejects.toMatchObject({ code: 'unavailable' })
  })
})
