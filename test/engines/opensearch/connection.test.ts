// Connections of the type elasticsearch on a real server: the test, what lands, and what is left at the server.
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect } from 'vitest'
import { create } from '../../../daemon/roles/ingest/connection/create.ts'
import { readByConnection, setUpIngestSite } from '../../roles/ingest/ingest-site.ts'
import { type OpenSearch, opensearchRequirement } from '../../support/engines/opensearch.ts'
import { sharedOpenSearch } from '../../support/engines/shared-servers.ts'
import { whenPresent } from '../../support/runner/requires.ts'

const where = whenPresent(opensearchRequirement)
const site = setUpIngestSite({ trusted_networks: ['127.0.0.1'] })
const index = `rows-${randomUUID()}`
/** More than two pages of a scroll. */
const documents = 600
let server: OpenSearch

beforeAll(async () => {
  if (!opensearchRequirement.isPresent) return
  server = sharedOpenSearch()
  await server.start()
  // The server makes no index by itself.
  await server.request('PUT', `/${index}`)
  for (let at = 0; at < documents; at++) {
    const last = at === documents - 1 ? '?refresh=true' : ''
    await server.request('PUT', `/${index}/_doc/${at}${last}`, {
      name: `n${at}`,
      big: 9_007_199_254_740_991,
      at: { x: at },
    })
  }
}, 120_000)
afterAll(async () => {
  await server?.end()
})

where('every document of an index lands once, and the server keeps no scroll', { timeout: 60_000 }, async () => {
  const person = await site().as({ roles: ['admin'] })
  const config = { url: server.url, index }
  const made = await person.ok(create, { name: 'search', conn_type: 'elasticsearch', config })
  expect(made.test).toEqual({ ok: true, detail: expect.stringContaining('a search server of version') })
  const done = await readByConnection(site(), person, 'search', { connection_id: made.uid, columns: ['name', 'big'] })
  expect(done.log).toBeUndefined()
  const manifest = JSON.parse(readFileSync(join(done.run ?? '', 'read', 'dataset.json'), 'utf8'))
  expect(manifest).toMatchObject({ rows: documents, rejects: { rows: 0 } })
  expect(manifest.columns.map(({ name }: { name: string }) => name).toSorted()).toEqual(['_id', 'big', 'name'])
  const stats = await server.request('GET', '/_nodes/stats/indices/search')
  expect(JSON.stringify(stats)).toContain('"scroll_current":0')
})

where(
  'an index that is not there ends the run with the reason, and a pattern is not read',
  { timeout: 60_000 },
  async () => {
    const person = await site().as({ roles: ['admin'] })
    const cases = [
      ['none-of-this-name', 'the server has no such index'],
      ['*', 'is not the name of an index'],
      ['_all', 'is not the name of an index'],
      ['a/../_cluster', 'is not the name of an index'],
    ] as const
    for (const [at, [table, reason]] of cases.entries()) {
      const config = { url: server.url }
      const { uid } = await person.ok(create, { name: 'search', conn_type: 'elasticsearch', config })
      const done = await readByConnection(site(), person, `absent_${at}`, { connection_id: uid, table })
      expect(done.log).toContain(reason)
    }
  },
)
