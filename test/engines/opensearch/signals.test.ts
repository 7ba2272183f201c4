// Signals with their documents in a cluster: the lifecycle as on SQLite, and where they lie.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect } from 'vitest'
import { list } from '../../../daemon/roles/intelligence/signal/list.ts'
import { intelligenceProfile, raise } from '../../roles/intelligence/intelligence-world.ts'
import { followsTheModel, survivesACrowd } from '../../roles/intelligence/lifecycle.ts'
import { type OpenSearch, opensearch, opensearchWanted } from '../../support/engines/opensearch.ts'
import { whenPresent } from '../../support/requires.ts'
import { type SiteWorld, siteWorld } from '../../support/site-world.ts'

const where = whenPresent(opensearchWanted)
const runs = (usual: number) => Number(process.env.FAST_CHECK_RUNS ?? usual)
const prefix = `signals-${randomUUID()}`
let server: OpenSearch | undefined
let world: SiteWorld | undefined

beforeAll(async () => {
  if (!opensearchWanted.isPresent) return
  server = await opensearch()
  await server.start()
  const env = { SEARCH_HOST: server.url, SEARCH_INDEX_PREFIX: prefix, SEARCH_REPLICAS: '0', SEARCH_TIMEOUT: '10' }
  world = await siteWorld({ profile: intelligenceProfile, env })
})
afterAll(async () => {
  await world?.end()
  await server?.end()
  expect(world?.faults ?? []).toEqual([])
})

const up = () => world ?? fail()
function fail(): never {
  throw new Error('the world has not been made')
}

where('no sequence of commands leaves what the interface’s table allows, or loses a step', () =>
  followsTheModel(up(), runs(4)),
)

where('no crowd of commands does, either', () => survivesACrowd(up(), runs(4)))

where('signals lie under the alias of their own, and are found by what they are filtered by', async () => {
  const ann = await up().as()
  const subject = { type: 'sensor' as const, id: 'mast-9', name: 'Mast 9' }
  const uids = [await raise(ann, { subject, severity: 'low' }), await raise(ann, { subject, severity: 'critical' })]
  const found = async () =>
    (await ann.ok(list, { subject_id: subject.id, severity: 'low' })).items.map(({ uid }) => uid)
  await expect.poll(found, { timeout: 60_000 }).toEqual(uids.slice(0, 1))
  const alias = `${prefix}.alpha.intelligence.signal`
  expect(Object.keys((await server?.ask('GET', `/_alias/${alias}`)) as object)).toEqual([`${alias}-1`])
})
