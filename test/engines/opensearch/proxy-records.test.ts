// Audit records of the public proxy in a cluster, each a document: the same filters find the same records as on SQLite.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect } from 'vitest'
import { type OpenSearch, opensearchRequirement } from '../../support/engines/opensearch.ts'
import { sharedOpenSearch } from '../../support/engines/shared-servers.ts'
import {
  expectFilteredRecords,
  proxySections,
  recordSegments,
  shipSegments,
} from '../../support/proxy/record-filters.ts'
import { whenPresent } from '../../support/runner/requires.ts'
import { startTestSite, type TestSite } from '../../support/site/test-site.ts'

const where = whenPresent(opensearchRequirement)
const prefix = `records-${randomUUID()}`
let server: OpenSearch | undefined
let site: TestSite | undefined

beforeAll(async () => {
  if (!opensearchRequirement.isPresent) return
  server = sharedOpenSearch()
  await server.start()
  const env = { SEARCH_HOST: server.url, SEARCH_INDEX_PREFIX: prefix, SEARCH_REPLICAS: '0', SEARCH_TIMEOUT: '10' }
  site = await startTestSite({ profile: proxySections, template: 'single-cluster', env })
})
afterAll(async () => {
  await site?.end()
  await server?.end()
})

where('each filter finds exactly what it means, and the documented index has its fields', async () => {
  if (!site || !server) throw new Error('the site has not been made')
  await shipSegments(site, recordSegments)
  const documented = `/${prefix}.alpha.proxy`
  await server.request('POST', `${documented}/_refresh`)
  await expectFilteredRecords(site)
  const terms = { status: 404, rule: 'GET /api/v1/report' }
  const filter = Object.entries(terms).map(([field, value]) => ({ term: { [field]: value } }))
  const body = { query: { bool: { filter, must_not: [{ term: { verdict: 'allow' } }] } } }
  const { count } = (await server.request('POST', `${documented}/_count`, body)) as { count: number }
  const isMeant = ({ reason, status, rule }: (typeof recordSegments)[number][number]) =>
    reason !== 'forwarded' && status === 404 && rule === terms.rule
  expect(count).toBe(recordSegments.flat().filter(isMeant).length)
})
