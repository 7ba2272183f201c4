// Entity resolution with its documents in a cluster: a whole run, and where its objects lie.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect } from 'vitest'
import { find } from '../../../daemon/roles/resolution/entity/find.ts'
import { list as clusters } from '../../../daemon/roles/resolution/entity-cluster/list.ts'
import { remove } from '../../../daemon/roles/resolution/entity-cluster/remove.ts'
import { list as matches } from '../../../daemon/roles/resolution/entity-match/list.ts'
import { review } from '../../../daemon/roles/resolution/entity-match/review.ts'
import { forget } from '../../../daemon/roles/resolution/entity-record/forget.ts'
import { entityRecords, recordUid } from '../../../daemon/roles/resolution/entity-record/model.ts'
import { start } from '../../../daemon/roles/resolution/fusion-run/start.ts'
import { create } from '../../../daemon/roles/resolution/lens/create.ts'
import { buildPeople, buildPersonLens, waitForRunEnd } from '../../roles/resolution/resolution-site.ts'
import { type OpenSearch, opensearchRequirement } from '../../support/engines/opensearch.ts'
import { sharedOpenSearch } from '../../support/engines/shared-servers.ts'
import { whenPresent } from '../../support/runner/requires.ts'
import { startTestSite, type TestSite, waitUntil } from '../../support/site/test-site.ts'

const where = whenPresent(opensearchRequirement)
let server: OpenSearch
let world: TestSite | undefined
const prefix = `resolution-${randomUUID()}`

beforeAll(async () => {
  if (!opensearchRequirement.isPresent) return
  server = sharedOpenSearch()
  await server.start()
  const profile = { platform: { roles: ['site', 'resolution'] }, resolution: { port: 0 } }
  const env = { SEARCH_HOST: server.url, SEARCH_INDEX_PREFIX: prefix, SEARCH_REPLICAS: '0', SEARCH_TIMEOUT: '10' }
  world = await startTestSite({ profile, env })
})
afterAll(async () => {
  await world?.end()
  await server?.end()
})

/** Documents of one collection. */
async function countOf(collection: string): Promise<number> {
  const index = `${prefix}.alpha.fusion.${collection}`
  await server.request('POST', `/${index}/_refresh`)
  return ((await server.request('GET', `/${index}/_count`)) as { count: number }).count
}

where(
  'a run finds who is who, a review moves a cluster, and the five objects lie in the indexes of fusion',
  async () => {
    if (!world) throw new Error('the world has not been made')
    const ann = await world.as()
    await ann.ok(create, { body: buildPersonLens() })
    const node_data = { east: buildPeople(0, 20), west: buildPeople(10, 30) }
    const { run_id } = await ann.ok(start, { lens_id: 'people', node_data })
    const run = await waitForRunEnd(ann, run_id)
    expect(run).toMatchObject({ state: 'completed', counts: { entities: 30, clusters: 10 } })
    const found = async () => (await ann.ok(clusters, { run_id, limit: 500 })).items
    await expect.poll(async () => (await found()).length, { timeout: 60_000 }).toBe(10)
    const linked = (await ann.ok(matches, { run_id, limit: 500 })).items.find((each) => each.linked)
    await ann.ok(review, { correlation_id: linked?.uid ?? '', decision: 'reject' })
    await waitUntil(async () => (await found()).length === 9)
    expect(await countOf('lens')).toBe(1)
    expect(await countOf('lens_binding')).toBeGreaterThan(0)
    expect(await countOf('entity_match')).toBe(run.counts.matches)
    expect(await countOf('entity_cluster')).toBe(31)
    expect(await countOf('fusion_run')).toBe(1)
    expect(world.loggedErrors).toEqual([])
  },
)

where(
  'a forgotten record and a deleted entity leave no match and no value in the cluster, and stay out of a run',
  async () => {
    if (!world) throw new Error('the world has not been made')
    const ann = await world.as()
    const olga = await world.as({ subject: 'olga', roles: ['operator'] })
    const node_data = { south: buildPeople(0, 20), north: buildPeople(0, 20) }
    const runLists = async () =>
      await waitForRunEnd(ann, (await ann.ok(start, { lens_id: 'people', node_data })).run_id)
    expect(await runLists()).toMatchObject({ state: 'completed' })
    const ref = { lens: 'people', node_id: 'south', record_id: 'p3' }
    const { uid } = await ann.ok(find, { ...ref, record_id: 'p4' })
    expect(await olga.ok(forget, { ...ref, reason: 'requested' })).toMatchObject({ settled: true })
    expect(await olga.ok(remove, { uid, reason: 'test data' })).toMatchObject({ state: 'deleted', size: 0 })
    expect(await olga.refusal(find, ref)).toBe('not_found')
    expect(await runLists()).toMatchObject({ left_out: [{ what: 'withdrawn_records' }] })
    const { items } = await ann.ok(matches, { limit: 500 })
    const ofForgotten = items.filter(({ left, right }) =>
      [left, right].some(({ node_id, record_id }) => node_id === 'south' && record_id === 'p3'),
    )
    expect(ofForgotten).toEqual([])
    const record = recordUid('tenant-a', 'people', { node_id: 'south', record_id: 'p3' })
    const { clock, store, wakeWorker, loggedErrors } = world
    clock.advance(61_000)
    const erased = await waitUntil(async () => {
      wakeWorker('resolution', 'files')
      const found = await store('resolution').get(entityRecords, record)
      return found?.value.erasing === undefined && found
    })
    expect(erased.value).toMatchObject({ values: {}, withdrawn: { kind: 'forgotten', by: 'olga' } })
    expect(loggedErrors).toEqual([])
  },
)
