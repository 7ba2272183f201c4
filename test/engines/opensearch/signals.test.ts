// Signals with their documents in a cluster: the lifecycle as on SQLite, and where they lie.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect } from 'vitest'
import { list } from '../../../daemon/roles/intelligence/signal/list.ts'
import { intelligenceProfile, raiseSignal } from '../../roles/intelligence/intelligence-site.ts'
import { expectFollowsModel, expectSurvivesCrowd } from '../../roles/intelligence/lifecycle-properties.ts'
import { type OpenSearch, opensearchRequirement } from '../../support/engines/opensearch.ts'
import { sharedOpenSearch } from '../../support/engines/shared-servers.ts'
import { whenPresent } from '../../support/runner/requires.ts'
import { startTestSite, type TestSite } from '../../support/site/test-site.ts'

const where = whenPresent(opensearchRequirement)
const runs = (usual: number) => Number(process.env.FAST_CHECK_RUNS ?? usual)
const prefix = `signals-${randomUUID()}`
let server: OpenSearch | undefined
let world: TestSite | undefined

beforeAll(async () => {
  if (!opensearchRequirement.isPresent) return
  server = sharedOpenSearch()
  await server.start()
  const env = { SEARCH_HOST: server.url, SEARCH_INDEX_PREFIX: prefix, SEARCH_REPLICAS: '0', SEARCH_TIMEOUT: '10' }
  world = await startTestSite({ profile: intelligenceProfile, env })
})
afterAll(async () => {
  await world?.end()
  await server?.end()
  expect(world?.loggedErrors ?? []).toEqual([])
})

const requireSite = () => world ?? fail()
function fail(): never {
  throw new Error('the world has not been made')
}

where('no sequence of commands leaves what the interface’s table allows, or loses a step', () =>
  expectFollowsModel(requireSite(), runs(4)),
)

where('no crowd of commands does, either', () => expectSurvivesCrowd(requireSite(), runs(4)))

where('signals lie under the alias of their own, and are found by what they are filtered by', async () => {
  const ann = await requireSite().as()
  const subject = { type: 'sensor' as const, id: 'mast-9', name: 'Mast 9' }
  const uids = [
    await raiseSignal(ann, { subject, severity: 'low' }),
    await raiseSignal(ann, { subject, severity: 'critical' }),
  ]
  const found = async () =>
    (await ann.ok(list, { subject_id: subject.id, severity: 'low' })).items.map(({ uid }) => uid)
  await expect.poll(found, { timeout: 60_000 }).toEqual(uids.slice(0, 1))
  const alias = `${prefix}.alpha.intelligence.signal`
  expect(Object.keys((await server?.request('GET', `/_alias/${alias}`)) as object)).toEqual([`${alias}-1`])
  const terms = { 'subject.id': subject.id, signal_id: uids[1], status: 'new', severity: 'critical' }
  const filter = Object.entries(terms).map(([field, value]) => ({ term: { [field]: value } }))
  const body = { query: { bool: { filter } } }
  const documented = `/${prefix}.alpha.signal`
  await server?.request('POST', `${documented}/_refresh`)
  const hits = ((await server?.request('POST', `${documented}/_search`, body)) as SearchAnswer | undefined)?.hits.hits
  expect(hits?.map(({ _source }) => _source.body.severity)).toEqual(['critical'])
})

type SearchAnswer = { hits: { hits: { _source: { body: { severity: string } } }[] } }
