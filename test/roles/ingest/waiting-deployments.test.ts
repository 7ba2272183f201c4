// A deployment that waits for a check which does not end gives way to the next one, and to the deletion of its object.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { deploy } from '../../../daemon/roles/ingest/datapipeline/deploy.ts'
import { get } from '../../../daemon/roles/ingest/datapipeline/get.ts'
import { remove } from '../../../daemon/roles/ingest/datapipeline/remove.ts'
import { update } from '../../../daemon/roles/ingest/datapipeline/update.ts'
import type { CheckedClient } from '../../support/http/checked-client.ts'
import { GitlabServer } from '../../support/ingest/gitlab-server.ts'
import { waitUntil } from '../../support/site/test-site.ts'
import { ingestContent, setUpIngestSite, waitUntilDeployed } from './ingest-site.ts'

const server = new GitlabServer()
beforeAll(() => server.start())
afterAll(() => server.end())

const site = setUpIngestSite(() => ({ dag_repo_url: server.url, dag_repo_project: server.project }), {
  env: { DAG_REPO_TOKEN: server.token },
})

const passes = (id: string) => server.setStatus(id, 'dags', 'success')

/** Resolves with the commit that its CI holds up. */
async function deployWaiting(person: CheckedClient, dag_id: string) {
  server.onCommit = (id) => server.setStatus(id, 'dags', 'running')
  const content = ingestContent(dag_id, 'people.csv')
  const { uid } = await person.ok(deploy, { dag_id, content })
  const check = await waitUntil(async () => {
    const { check: state } = await person.ok(get, { uid })
    return state !== undefined && state.looks > 0 && state
  })
  return { uid, content, commit: check.commit ?? '', live: `dags/${dag_id}.${uid}.json` }
}

test('another content takes its place, and the late end of its check changes nothing', async () => {
  const ann = await site().as()
  const { uid, commit, live } = await deployWaiting(ann, 'replaced')
  server.onCommit = passes
  const content = ingestContent('replaced', 'people.csv', { retries: 1 })
  await ann.ok(update, { uid, content })
  expect(await waitUntilDeployed(ann, uid)).toMatchObject({ status: 'active' })
  expect(server.readLive(live)).toBe(content)
  passes(commit)
  expect(server.readLive(live)).toBe(content)
})

test('its object is deleted, with what is pending of it', async () => {
  const ann = await site().as()
  const { uid, live } = await deployWaiting(ann, 'deleted')
  await ann.ok(remove, { uid })
  expect(server.readLive(live)).toBeUndefined()
  expect(server.hasBranch(`pending/${uid}`)).toBe(false)
  expect(await ann.refusal(get, { uid })).toBe('not_found')
})

test('a deletion that the host does not answer ends the deployment alone, and can be repeated', async () => {
  const ann = await site().as()
  const { uid, commit, live } = await deployWaiting(ann, 'kept')
  server.isDown = true
  expect(await ann.refusal(remove, { uid })).toBe('unavailable')
  server.isDown = false
  passes(commit)
  expect(await ann.ok(get, { uid })).toMatchObject({ status: 'error', fault: { reason: /was to be deleted/ } })
  expect(server.readLive(live)).toBeUndefined()
  await ann.ok(remove, { uid })
})
