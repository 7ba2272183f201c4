// The records of a public proxy in a real cluster: the journal holds them during an outage, over a death, and all arrive once.
import { afterAll, beforeAll, expect } from 'vitest'
import { type OpenSearch, opensearchRequirement } from '../../support/engines/opensearch.ts'
import { sharedOpenSearch } from '../../support/engines/shared-servers.ts'
import {
  countReasons,
  type PackagedProxy,
  readProxyMetrics,
  sendProxyRequest,
  waitForRecords,
} from '../../support/proxy/packaged-proxy.ts'
import { serveTestProxy } from '../../support/proxy/test-proxy.ts'
import { whenPresent } from '../../support/runner/requires.ts'
import type { ServedSite } from '../../support/site/packaged-site.ts'

const test = whenPresent(opensearchRequirement)
/** A cluster takes half a minute to come back, and longer where much else is done. */
const waitOptions = { timeout: 100_000, interval: 200 }
const prefix = 'door-records'
const index = `${prefix}.door.proxy.proxy`

let server: OpenSearch

beforeAll(async () => {
  if (!opensearchRequirement.isPresent) return
  server = sharedOpenSearch()
  await server.start()
})
afterAll(() => server?.end())

const countRecords = async (): Promise<number> => {
  await server.request('POST', `/${index}/_refresh`)
  return ((await server.request('GET', `/${index}/_count`)) as { count: number }).count
}

const readJournalBytes = async (proxy: PackagedProxy) =>
  Number((await readProxyMetrics(proxy)).get('proxy_audit_journal_bytes'))

/** Every third is denied. */
async function sendRequests(at: ServedSite, count: number): Promise<number[]> {
  const targets = Array.from({ length: count }, (_, n) => `/public-api/api/v1/${n % 3 ? 'report' : 'unlisted'}?n=${n}`)
  return await Promise.all(targets.map(async (target) => (await sendProxyRequest(at, target)).status))
}

const expectedStatuses = (count: number) => Array.from({ length: count }, (_, n) => (n % 3 ? 200 : 404))

test('records wait on the disk while the cluster is away, and then each is there once', async () => {
  const { proxy, served: first } = await serveTestProxy(['GET /api/v1/report'], {
    ...{ SEARCH_HOST: server.url, SEARCH_INDEX_PREFIX: prefix, SEARCH_REPLICAS: '0', SEARCH_TIMEOUT: '2' },
  })
  expect(await sendRequests(first, 60)).toEqual(expectedStatuses(60))
  await expect.poll(countRecords, waitOptions).toBe(60)

  await server.kill()
  expect(await sendRequests(first, 150)).toEqual(expectedStatuses(150))
  await expect.poll(() => readJournalBytes(proxy), waitOptions).toBeGreaterThan(150 * 50)
  // With the cluster still away the proxy dies too, and goes on over its journal.
  await first.kill()
  const second = await proxy.serve()
  await expect.poll(() => readJournalBytes(proxy), waitOptions).toBeGreaterThan(150 * 50)
  expect(await sendRequests(second, 90)).toEqual(expectedStatuses(90))

  await server.start()
  await expect.poll(countRecords, waitOptions).toBe(300)
  await expect.poll(() => readJournalBytes(proxy), waitOptions).toBe(0)
  expect(await countRecords()).toBe(300)
  expect(countReasons(await waitForRecords(proxy, 300))).toEqual({ forwarded: 200, no_rule: 100 })
  expect(proxy.platform.requests).toHaveLength(200)
}, 300_000)
