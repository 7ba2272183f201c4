// The DAG repository of a site without a git host: what a deployment commits, what its check refuses, and what pins a run.
import path from 'node:path'
import { expect, test } from 'vitest'
import { GitObjects } from '../../../adapters/dag-repository/local/git-objects.ts'
import { get as getRun } from '../../../daemon/roles/ingest/dag-run/get.ts'
import { deploy } from '../../../daemon/roles/ingest/datapipeline/deploy.ts'
import { remove } from '../../../daemon/roles/ingest/datapipeline/remove.ts'
import { run } from '../../../daemon/roles/ingest/datapipeline/run.ts'
import { update } from '../../../daemon/roles/ingest/datapipeline/update.ts'
import { create } from '../../../daemon/roles/ingest/effect/create.ts'
import {
  ingestContent,
  setUpIngestSite,
  waitUntilDeployed,
  waitUntilEffectDeployed,
  waitUntilRunOver,
} from './ingest-site.ts'

const site = setUpIngestSite({ dag_repo_branch: 'live', dag_repo_dag_path: 'airflow/dags' })

function openRepository() {
  const objects = new GitObjects(path.join(site().folder.data, 'ingest', 'dags.git'))
  const head = async () => (await objects.findHead('live')) ?? ''
  return {
    head,
    branch: (uid: string) => objects.findHead(`pending/${uid}`),
    live: async (file: string) => await objects.findText(await head(), file),
    read: (commit: string, file: string) => objects.findText(commit, file),
  }
}

test('a deployment is a commit of the live branch with its catalog, and pins the runs of it', async () => {
  const ann = await site().as()
  site().writeFile('people.csv', 'id\n1\n')
  const content = ingestContent('daily', 'people.csv')
  const { uid } = await ann.ok(deploy, { dag_id: 'daily', content })
  const { commit, catalog_version, check } = await waitUntilDeployed(ann, uid)
  const repository = openRepository()
  expect(commit).toBe(await repository.head())
  expect(check).toBeUndefined()
  expect(await repository.live(`airflow/dags/daily.${uid}.json`)).toBe(content)
  expect(JSON.parse((await repository.live('catalog.json')) ?? '')).toMatchObject({
    format: 1,
    version: catalog_version,
  })
  expect(await repository.branch(uid)).toBeUndefined()
  const first = await ann.ok(run, { uid })
  expect(await waitUntilRunOver(ann, 'daily', first.dag_run_id)).toMatchObject({ commit, catalog_version })

  await ann.ok(update, { uid, content: ingestContent('daily', 'people.csv', { retries: 1 }) })
  const later = await waitUntilDeployed(ann, uid)
  expect(later.commit).not.toBe(commit)
  const { dag_run_id } = await ann.ok(run, { uid })
  expect(await waitUntilRunOver(ann, 'daily', dag_run_id)).toMatchObject({ commit: later.commit })
  expect(await ann.ok(getRun, { dag_id: 'daily', dag_run_id: first.dag_run_id })).toMatchObject({ commit })
  expect(await repository.read(commit ?? '', `airflow/dags/daily.${uid}.json`)).toBe(content)
})

test('a content that the check rejects stays pending with its reason and line, and the DAG before stays live', async () => {
  const ann = await site().as()
  const good = ingestContent('checked', 'people.csv')
  const { uid } = await ann.ok(deploy, { dag_id: 'checked', content: good })
  const { commit } = await waitUntilDeployed(ann, uid)
  const faulty: readonly (readonly [content: string, line: number])[] = [
    ['{\n"format": 1,\n}', 3],
    [JSON.stringify(JSON.parse(ingestContent('checked', '')), undefined, 1), 9],
  ]
  const repository = openRepository()
  const file = `checked.${uid}.json`
  for (const [content, line] of faulty) {
    await ann.ok(update, { uid, content })
    const rejected = await waitUntilDeployed(ann, uid)
    expect(rejected).toMatchObject({ status: 'rejected', commit, fault: { line } })
    expect(await repository.read(rejected.fault?.commit ?? '', `pending/${file}`)).toBe(content)
  }
  expect(await repository.live(`airflow/dags/${file}`)).toBe(good)
  await ann.ok(remove, { uid })
  expect(await repository.live(`airflow/dags/${file}`)).toBeUndefined()
  expect(await repository.branch(uid)).toBeUndefined()
})

test('an effect is assembled and committed; one that cannot be assembled leaves no commit', async () => {
  const ann = await site().as()
  const operators = [{ name: 'ingest_file', params: { file: 'people.csv' } }]
  const { uid, dag_id } = await ann.ok(create, { name: 'assembled', operators })
  const ended = await waitUntilEffectDeployed(ann, uid)
  const repository = openRepository()
  const text = await repository.read(ended.commit ?? '', `airflow/dags/${dag_id}.${uid}.json`)
  expect(JSON.parse(text ?? '')).toMatchObject({ dag_id, tasks: [{ operator: 'ingest_file' }] })
  const before = await repository.head()
  const unknown = await ann.ok(create, { name: 'unknown', operators: [{ name: 'no_such', params: {} }] })
  const failed = await waitUntilEffectDeployed(ann, unknown.uid)
  expect(failed).toMatchObject({ status: 'error' })
  expect(await repository.head()).toBe(before)
  expect(await repository.branch(unknown.uid)).toBeUndefined()
})
