// Pipelines whose DAGs are at a git host, which may be away while one is deleted or a former run is run again.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { get as getRun } from '../../../daemon/roles/ingest/dag-run/get.ts'
import { deploy } from '../../../daemon/roles/ingest/datapipeline/deploy.ts'
import { get } from '../../../daemon/roles/ingest/datapipeline/get.ts'
import { remove } from '../../../daemon/roles/ingest/datapipeline/remove.ts'
import { run } from '../../../daemon/roles/ingest/datapipeline/run.ts'
import { update } from '../../../daemon/roles/ingest/datapipeline/update.ts'
import { GitlabServer } from '../../support/ingest/gitlab-server.ts'
import { ingestContent, setUpIngestSite, waitUntilDeployed, waitUntilRunOver } from './ingest-site.ts'

const server = new GitlabServer()
server.onCommit = (id) => server.setStatus(id, 'dags', 'success')
beforeAll(() => server.start())
afterAll(() => server.end())

const site = setUpIngestSite(() => ({ dag_repo_url: server.url, dag_repo_project: server.project }), {
  env: { DAG_REPO_TOKEN: server.token },
})

test('a pipeline that cannot be deleted at the git host keeps its runs, and is deleted once it can', async () => {
  const ann = await site().as()
  site().writeFile('people.csv', 'id\n1\n')
  const content = ingestContent('daily', 'people.csv')
  const { uid } = await ann.ok(deploy, { dag_id: 'daily', content, run_on_deploy: true })
  await waitUntilDeployed(ann, uid)
  const run = await waitUntilRunOver(ann, 'daily', 'deploy__1')
  server.isDown = true
  expect(await ann.refusal(remove, { uid })).toBe('unavailable')
  server.isDown = false
  expect(await ann.ok(get, { uid })).toMatchObject({ status: 'active' })
  expect(await ann.ok(getRun, { dag_id: 'daily', dag_run_id: 'deploy__1' })).toEqual(run)
  await ann.ok(remove, { uid })
  expect(server.readLive(`dags/daily.${uid}.json`)).toBeUndefined()
  expect(await ann.refusal(getRun, { dag_id: 'daily', dag_run_id: 'deploy__1' })).toBe('not_found')
})

test('pinned code is read from the git host, at the commit of its run', async () => {
  const ann = await site().as()
  const { uid } = await ann.ok(deploy, { dag_id: 'pinned', content: ingestContent('pinned', 'people.csv') })
  const { commit } = await waitUntilDeployed(ann, uid)
  const { dag_run_id } = await ann.ok(run, { uid })
  await ann.ok(update, { uid, content: ingestContent('pinned', 'people.csv', { retries: 1 }) })
  expect((await waitUntilDeployed(ann, uid)).commit).not.toBe(commit)
  const repeats = { dag_run_id, code: 'pinned' } as const
  expect(await ann.ok(run, { uid, repeats })).toMatchObject({ commit, repeats })
  server.isDown = true
  expect(await ann.refusal(run, { uid, repeats })).toBe('unavailable')
  expect(await ann.ok(run, { uid, repeats: { ...repeats, code: 'latest' } })).toMatchObject({ state: 'queued' })
  server.isDown = false
})

test('a pipeline that was never committed is deleted at a project without the live branch, a live one is not', async () => {
  const ann = await site().as()
  const content = ingestContent('hourly', 'people.csv')
  const { uid: live } = await ann.ok(deploy, { dag_id: 'hourly', content })
  await waitUntilDeployed(ann, live)
  server.removeBranch('main')
  const { uid } = await ann.ok(deploy, { dag_id: 'weekly', content: ingestContent('weekly', 'people.csv') })
  expect(await waitUntilDeployed(ann, uid)).toMatchObject({ status: 'error' })
  await ann.ok(remove, { uid })
  expect(await ann.refusal(remove, { uid: live })).toBe('wrong_state')
})
