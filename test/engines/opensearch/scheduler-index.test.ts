// The scheduler records of a site in a real cluster, under the name that the site gives their index.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect } from 'vitest'
import { deploy } from '../../../daemon/roles/ingest/datapipeline/deploy.ts'
import { list } from '../../../daemon/roles/ingest/datapipeline-schedule/list.ts'
import { ingestContent } from '../../roles/ingest/ingest-site.ts'
import { type OpenSearch, opensearchRequirement } from '../../support/engines/opensearch.ts'
import { sharedOpenSearch } from '../../support/engines/shared-servers.ts'
import { whenPresent } from '../../support/runner/requires.ts'
import { startTestSite, waitUntil } from '../../support/site/test-site.ts'

const where = whenPresent(opensearchRequirement)
let server: OpenSearch
beforeAll(async () => {
  if (!opensearchRequirement.isPresent) return
  server = sharedOpenSearch()
  await server.start()
})
afterAll(async () => {
  await server?.end()
})

type SearchAnswer = { readonly hits: { readonly hits: readonly { readonly _source: object }[] } }

where('PIPELINE_SCHEDULER_INDEX is the alias of the scheduler records, in place of pipeline-scheduler', async () => {
  const name = `schedules-${randomUUID()}`
  const site = await startTestSite({
    profile: { platform: { roles: ['site', 'ingest'] }, ingest: { port: 0 } },
    env: {
      ...{ SEARCH_HOST: server.url, SEARCH_INDEX_PREFIX: name, SEARCH_REPLICAS: '0', SEARCH_TIMEOUT: '10' },
      ...{ SEARCH_ALIAS_PREFIX: `${name}.`, PIPELINE_SCHEDULER_INDEX: 'planned-runs' },
    },
  })
  try {
    const ann = await site.as()
    const content = ingestContent('nightly', 'a.csv')
    const { uid } = await ann.ok(deploy, { dag_id: 'nightly', content, schedule: '0 3 * * *' })
    const search = async (query: object) => {
      const answer = await server.request('POST', `/${name}.planned-runs/_search`, { query })
      return (answer as SearchAnswer).hits.hits.length
    }
    for (const term of [{ uid }, { dag_id: 'nightly' }, { status: 'idle' }, { schedule: '0 3 * * *' }])
      await waitUntil(async () => (await search({ term }).catch(() => 0)) === 1)
    expect(await search({ term: { dag_id: 'weekly' } })).toBe(0)
    const aliases = await server.request('GET', `/_alias/${name}.planned-runs`)
    expect(Object.keys(aliases as object)).toEqual([`${name}.alpha.ingest.pipeline-schedule-1`])
    await expect(server.request('GET', `/_alias/${name}.pipeline-scheduler`)).rejects.toThrow()
    await waitUntil(async () => (await ann.ok(list, {})).items.some((item) => item.uid === uid))
    expect(site.loggedErrors).toEqual([])
  } finally {
    await site.end()
  }
})
