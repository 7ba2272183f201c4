// Deployments of a site whose DAGs are kept by a real Gitea: its CI decides, and the token of the site is shown nowhere.
import { afterAll, beforeAll, expect } from 'vitest'
import { deploy } from '../../../daemon/roles/ingest/datapipeline/deploy.ts'
import { get } from '../../../daemon/roles/ingest/datapipeline/get.ts'
import { remove } from '../../../daemon/roles/ingest/datapipeline/remove.ts'
import { update } from '../../../daemon/roles/ingest/datapipeline/update.ts'
import { ingestContent } from '../../roles/ingest/ingest-site.ts'
import { type Gitea, gitea, giteaRequirement } from '../../support/engines/gitea.ts'
import { runningClock } from '../../support/ingest/scheduler-world.ts'
import { whenPresent } from '../../support/runner/requires.ts'
import { startTestSite, type TestSite, waitUntil } from '../../support/site/test-site.ts'

const test = whenPresent(giteaRequirement)
const timeout = 180_000
const patience_ms = 60_000

let server: Gitea
let site: TestSite
beforeAll(async () => {
  if (!giteaRequirement.isPresent) return
  server = await gitea()
  const { url: dag_repo_url, project: dag_repo_project, token: dag_repo_token } = server
  const ingest = { port: 0, dag_repo_kind: 'gitea', dag_repo_url, dag_repo_project, dag_repo_token }
  site = await startTestSite({ clock: runningClock(), profile: { platform: { roles: ['site', 'ingest'] }, ingest } })
}, 200_000)
afterAll(async () => {
  await site?.end()
  await server?.end()
})

const report = (commit: string, state: string, description: string) =>
  server.request('POST', `/repos/${server.project}/statuses/${commit}`, { state, context: 'ci/dags', description })

test(
  'a DAG is live once the CI has passed, and one that it fails is rejected with its reason and line',
  async () => {
    const ann = await site.as()
    const content = ingestContent('hosted', 'people.csv')
    const { uid } = await ann.ok(deploy, { dag_id: 'hosted', content })
    const checked = async () =>
      await waitUntil(async () => {
        const { check } = await ann.ok(get, { uid })
        return (check?.looks ?? 0) > 0 && check?.commit
      }, patience_ms)
    await report(await checked(), 'success', 'all is well')
    const ended = async () =>
      await waitUntil(async () => {
        const pipeline = await ann.ok(get, { uid })
        return pipeline.status !== 'pending_validation' && pipeline
      }, patience_ms)
    const { commit, status, catalog_version } = await ended()
    expect(status).toBe('active')
    const at = (file: string) => `/repos/${server.project}/contents/${file}?ref=${commit}`
    const read = async (file: string) =>
      Buffer.from(((await server.request('GET', at(file))) as { content: string }).content, 'base64').toString()
    expect(await read(`dags/hosted.${uid}.json`)).toBe(content)
    expect(JSON.parse(await read('catalog.json'))).toMatchObject({ version: catalog_version })

    await ann.ok(update, { uid, content: ingestContent('hosted', 'other.csv') })
    const failed = await checked()
    await report(failed, 'failure', 'a DAG of the team names its owner, line 1')
    expect(await ended()).toMatchObject({
      ...{ status: 'rejected', commit },
      fault: { reason: 'ci/dags: a DAG of the team names its owner, line 1', line: 1, commit: failed },
    })
    await ann.ok(remove, { uid })
    const head = (await server.request('GET', `/repos/${server.project}/contents?ref=main`)) as { name: string }[]
    expect(head.map(({ name }) => name)).not.toContain('dags')
    const branches = (await server.request('GET', `/repos/${server.project}/branches`)) as { name: string }[]
    expect(branches.map(({ name }) => name)).toEqual(['main'])
  },
  timeout,
)

test(
  'the token of the site is in no answer and no log',
  async () => {
    const ann = await site.as()
    const { json } = await site.call('ingest', 'GET', '/health', undefined, { token: ann.token })
    expect(JSON.stringify(json)).toContain('gitea: answers')
    expect(JSON.stringify(json) + JSON.stringify(site.loggedErrors)).not.toContain(server.token)
  },
  timeout,
)
