// The records of a public door in a real cluster: when that is killed the journal holds them, over the door's own death, and all arrive once.
import { afterAll, beforeAll, expect } from 'vitest'
import { type OpenSearch, opensearch, opensearchWanted } from '../../support/engines/opensearch.ts'
import type { Served } from '../../support/packaged-site.ts'
import { ask, type Door, metrics, publicDoor, reasonsOf, recorded } from '../../support/public-door.ts'
import { whenPresent } from '../../support/requires.ts'

const test = whenPresent(opensearchWanted)
/** A cluster takes half a minute to come back, and longer where much else is done. */
const patience = { timeout: 100_000, interval: 200 }
const prefix = 'door-records'
const index = `${prefix}.door.proxy.proxy`

let server: OpenSearch
let door: Door
let served: Served | undefined

beforeAll(async () => {
  if (!opensearchWanted.isPresent) return
  server = await opensearch()
  await server.start()
})
afterAll(async () => {
  await served?.stop()
  await door?.close()
  await server?.end()
})

const total = async (): Promise<number> => {
  await server.ask('POST', `/${index}/_refresh`)
  return ((await server.ask('GET', `/${index}/_count`)) as { count: number }).count
}

const journalBytes = async () => Number((await metrics(door)).get('proxy_audit_journal_bytes'))

/** Every third is denied. */
async function asked(count: number): Promise<number[]> {
  const at = served as Served
  const targets = Array.from({ length: count }, (_, n) => `/public-api/api/v1/${n % 3 ? 'report' : 'unlisted'}?n=${n}`)
  return await Promise.all(targets.map(async (target) => (await ask(at, target)).status))
}

const expected = (count: number) => Array.from({ length: count }, (_, n) => (n % 3 ? 200 : 404))

test('records wait on the disk while the cluster is away, and then each is there once', async () => {
  door = await publicDoor(['GET /api/v1/report'], {
    ...{ SEARCH_HOST: server.url, SEARCH_INDEX_PREFIX: prefix, SEARCH_REPLICAS: '0', SEARCH_TIMEOUT: '2' },
  })
  served = await door.serve()
  expect(await asked(60)).toEqual(expected(60))
  await expect.poll(total, patience).toBe(60)

  await server.kill()
  expect(await asked(150)).toEqual(expected(150))
  await expect.poll(journalBytes, patience).toBeGreaterThan(150 * 50)
  // With the cluster still away the door dies too, and goes on over its journal.
  await served.kill()
  served = await door.serve()
  await expect.poll(journalBytes, patience).toBeGreaterThan(150 * 50)
  expect(await asked(90)).toEqual(expected(90))

  await server.start()
  await expect.poll(total, patience).toBe(300)
  await expect.poll(journalBytes, patience).toBe(0)
  expect(await total()).toBe(300)
  expect(reasonsOf(await recorded(door, 300))).toEqual({ forwarded: 200, no_rule: 100 })
  expect(door.platform.asked).toHaveLength(200)
}, 300_000)
