// A cluster with TLS, client certificates and users: who comes in, who does not, and what an error may tell.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect } from 'vitest'
import { type ClusterOptions, openCluster } from '../../../adapters/store/opensearch/cluster/cluster.ts'
import { knownCluster } from '../../../adapters/store/opensearch/cluster/known-cluster.ts'
import { opensearchStore } from '../../../adapters/store/opensearch/store.ts'
import { sqlitePendingAudit } from '../../../adapters/store/sqlite/audit/pending-audit.ts'
import { documentsCluster } from '../../../adapters/store/sqlite/documents/documents-cluster.ts'
import { buildNote, notes } from '../../conformance/store-requirement.ts'
import { openSqliteStore } from '../../conformance/store-variants.ts'
import { type OpenSearch, opensearch, secureOpensearchRequirement } from '../../support/engines/opensearch.ts'
import { issueServerCertificates, type ServerCertificateSet } from '../../support/engines/server-certificates.ts'
import { whenPresent } from '../../support/runner/requires.ts'

const where = whenPresent(secureOpensearchRequirement)
const password = 'kept-a-secret-4711'
let folder: string
let server: OpenSearch
let ownCertificates: ServerCertificateSet
let otherCertificates: ServerCertificateSet
let clusterOptions: ClusterOptions

beforeAll(async () => {
  if (!secureOpensearchRequirement.isPresent) return
  folder = mkdtempSync(path.join(tmpdir(), 'secure-'))
  ownCertificates = issueServerCertificates('server', 'admin', 'client')
  otherCertificates = issueServerCertificates('client')
  server = await opensearch(ownCertificates)
  await server.start()
  // All that a site needs: its own indexes, bulk requests, and to ask who the cluster is and how it is.
  await server.request('PUT', '/_plugins/_security/api/roles/site', {
    cluster_permissions: ['cluster_composite_ops', 'cluster:monitor/health', 'cluster:monitor/main'],
    index_permissions: [{ index_patterns: ['platform.alpha.*'], allowed_actions: ['indices_all'] }],
  })
  await server.request('PUT', '/_plugins/_security/api/internalusers/alpha', { password })
  await server.request('PUT', '/_plugins/_security/api/rolesmapping/site', { users: ['alpha'] })
  const { ca: ca_file, cert: cert_file, key: key_file } = ownCertificates.of('client')
  clusterOptions = {
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
  for (const files of [ownCertificates, otherCertificates]) files?.dispose()
  if (folder) rmSync(folder, { recursive: true, force: true })
})

async function withStore<T>(
  options: ClusterOptions,
  prefix: string,
  use: (store: ReturnType<typeof opensearchStore>) => Promise<T>,
) {
  const own = mkdtempSync(path.join(folder, 'store-'))
  const { file, audit } = openSqliteStore(own)
  const pending = sqlitePendingAudit(file, audit)
  const place = { memory: documentsCluster(file), base: prefix }
  const opened = knownCluster(openCluster(options), place)
  const store = opensearchStore(opened, {
    ...place,
    pendingAudit: pending,
    collections: [{ ...notes, documented: { alias: 'note', fields: { note_id: 'id', kind: 'kind' } } }],
    prefix,
    alias_prefix: 'platform.alpha.',
    replicas: 0,
    scroll: '1m',
  })
  try {
    return await use(store)
  } finally {
    await store.close()
    await file.close()
  }
}

const prefix = 'platform.alpha.consensus.'

where('with its certificate, its user and the right authority a site keeps its documents there', async () => {
  await withStore(clusterOptions, prefix, async (store) => {
    expect(await store.health()).toMatchObject({ ok: true })
    expect(await store.create(notes, 'n1', buildNote())).toMatchObject({ version: 1 })
    expect(await store.put(notes, 'n1', buildNote({ count: 1 }), 1)).toMatchObject({ version: 2 })
    expect((await store.list(notes, { limit: 5, fresh: true })).docs).toHaveLength(1)
    expect(await store.countBy(notes, 'kind', {}, { fresh: true })).toEqual(new Map([['red', 1]]))
    expect(await store.remove(notes, 'n1')).toBe('done')
    expect(await store.findLostIndexes()).toEqual([])
  })
})

where('anything less does not come in, and the refusal keeps every secret', async () => {
  const { cert_file: _cert, key_file: _key, ...without } = clusterOptions
  const stranger = otherCertificates.of('client')
  const wrong: readonly [string, ClusterOptions][] = [
    ['another authority than the server’s', { ...clusterOptions, ca_file: stranger.ca }],
    ['no client certificate', without],
    [
      'a client certificate of another authority',
      { ...clusterOptions, cert_file: stranger.cert, key_file: stranger.key },
    ],
    ['a wrong password', { ...clusterOptions, password: `${password}x` }],
    ['no user', { ...clusterOptions, username: undefined, password: undefined }],
    ['plain text', { ...clusterOptions, url: server.url.replace('https', 'http') }],
  ]
  for (const [what, options] of wrong) {
    await withStore(options, prefix, async (store) => {
      expect([what, (await store.health()).ok]).toEqual([what, false])
      const refused: unknown = await store.create(notes, 'n2', buildNote()).catch((error: unknown) => error)
      expect([what, refused]).toMatchObject([what, { code: 'unavailable' }])
      const text = `${JSON.stringify(refused)} ${String(refused)} ${(refused as Error).stack} ${JSON.stringify(await store.health())}`
      expect(text).not.toContain(password)
      expect(text).not.toContain(Buffer.from(`alpha:${password}`).toString('base64'))
    })
  }
  await withStore({ ...clusterOptions, ca_file: stranger.ca, verify: false }, prefix, async (store) => {
    expect(await store.health()).toMatchObject({ ok: true })
  })
})

where('the indexes of another site are closed to it', async () => {
  await withStore(clusterOptions, 'platform.bravo.consensus.', async (store) => {
    await expect(store.create(notes, 'n1', buildNote())).rejects.toMatchObject({ code: 'unavailable' })
  })
})
