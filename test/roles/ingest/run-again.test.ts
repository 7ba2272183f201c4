// Former runs that are run again: by the code that they were pinned to, or by the latest, and what keeps pinned code from running.
import { renameSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { GitObjects } from '../../../adapters/dag-repository/local/git-objects.ts'
import { create as connect } from '../../../daemon/roles/ingest/connection/create.ts'
import { get as getRun } from '../../../daemon/roles/ingest/dag-run/get.ts'
import { status } from '../../../daemon/roles/ingest/dag-run/status.ts'
import { trigger } from '../../../daemon/roles/ingest/dag-run/trigger.ts'
import { deploy } from '../../../daemon/roles/ingest/datapipeline/deploy.ts'
import { get } from '../../../daemon/roles/ingest/datapipeline/get.ts'
import { run } from '../../../daemon/roles/ingest/datapipeline/run.ts'
import { update } from '../../../daemon/roles/ingest/datapipeline/update.ts'
import { create } from '../../../daemon/roles/ingest/effect/create.ts'
import { run as runEffect } from '../../../daemon/roles/ingest/effect/run.ts'
import { update as updateEffect } from '../../../daemon/roles/ingest/effect/update.ts'
import { dagRuns, runDocumentId } from '../../../daemon/roles/ingest/runner/model.ts'
import type { CheckedClient } from '../../support/http/checked-client.ts'
import {
  ingestContent,
  setUpIngestSite,
  waitUntilDeployed,
  waitUntilEffectDeployed,
  waitUntilRunOver,
} from './ingest-site.ts'

const site = setUpIngestSite()
const gitdir = () => path.join(site().folder.data, 'ingest', 'dags.git')

const pinnedTo = (dag_run_id: string) => ({ dag_run_id, code: 'pinned' as const })

/** A pipeline with a run of a content before the live one, which reads `newer.csv`. */
async function deployTwice(ann: CheckedClient, dag_id: string, before = ingestContent(dag_id, 'people.csv')) {
  site().writeFile('people.csv', 'id\n1\n')
  site().writeFile('newer.csv', 'id\n7\n8\n')
  const { uid } = await ann.ok(deploy, { dag_id, content: before })
  const { commit, catalog_version } = await waitUntilDeployed(ann, uid)
  const { dag_run_id: former } = await ann.ok(run, { uid, conf: { batch: 'May' } })
  await waitUntilRunOver(ann, dag_id, former)
  await ann.ok(update, { uid, content: ingestContent(dag_id, 'newer.csv') })
  const live = await waitUntilDeployed(ann, uid)
  expect(live.commit).not.toBe(commit)
  return { uid, former, pinned: { commit, catalog_version }, live }
}

const inputsOf = async (ann: CheckedClient, dag_id: string, dag_run_id: string) =>
  (await ann.ok(status, { dag_id, dag_run_id })).tasks.map(({ lineage }) => lineage?.inputs[0])

async function refusalOf(ann: CheckedClient, dag_id: string, former: string) {
  const { status, problem } = await ann.call(trigger, { dag_id, repeats: pinnedTo(former) })
  return [status, problem?.code, problem?.detail]
}

test('a run is run again by its pinned code with its conf, and its inputs are those of today', async () => {
  const ann = await site().as()
  const { uid, former, pinned, live } = await deployTwice(ann, 'monthly')
  const [before] = await inputsOf(ann, 'monthly', former)
  site().writeFile('people.csv', 'id\n1\n2\n3\n')
  const repeats = pinnedTo(former)
  const begun = await ann.ok(run, { uid, repeats })
  expect(begun).toMatchObject({ conf: { batch: 'May' }, repeats, ...pinned, logical_date: null })
  const over = await waitUntilRunOver(ann, 'monthly', begun.dag_run_id)
  expect(over).toMatchObject({ state: 'success', repeats, ...pinned })
  const [after] = await inputsOf(ann, 'monthly', begun.dag_run_id)
  expect(after).toMatchObject({ name: 'people.csv', rows: 3 })
  expect(after?.digest).not.toBe(before?.digest)
  // What repeats a repetition has the same code; the live DAG and the former run stay as they are.
  const third = await ann.ok(trigger, {
    dag_id: 'monthly',
    repeats: pinnedTo(begun.dag_run_id),
    conf: { batch: 'June' },
  })
  expect(third).toMatchObject({ conf: { batch: 'June' }, repeats: { dag_run_id: begun.dag_run_id }, ...pinned })
  expect(await ann.ok(get, { uid })).toMatchObject({ commit: live.commit })
  expect(await ann.ok(getRun, { dag_id: 'monthly', dag_run_id: former })).not.toHaveProperty('repeats')
  const latest = await ann.ok(run, { uid, repeats: { ...repeats, code: 'latest' } })
  expect(latest).toMatchObject({ conf: { batch: 'May' }, commit: live.commit })
  await waitUntilRunOver(ann, 'monthly', latest.dag_run_id)
  expect(await inputsOf(ann, 'monthly', latest.dag_run_id)).toMatchObject([{ name: 'newer.csv' }])
})

test('pinned code is stored with its run, which needs the repository no more', async () => {
  const ann = await site().as()
  const { uid, former } = await deployTwice(ann, 'stored')
  await ann.ok(update, { uid, action: 'pause' })
  const { dag_run_id } = await ann.ok(run, { uid, repeats: pinnedTo(former) })
  renameSync(gitdir(), `${gitdir()}.away`)
  await site().restart()
  await ann.ok(update, { uid, action: 'unpause' })
  expect(await waitUntilRunOver(ann, 'stored', dag_run_id)).toMatchObject({ state: 'success' })
  expect(await inputsOf(ann, 'stored', dag_run_id)).toMatchObject([{ name: 'people.csv' }])
  const refused = [409, 'wrong_state', expect.stringContaining('has no stored.')]
  expect(await refusalOf(ann, 'stored', former)).toEqual(refused)
  renameSync(`${gitdir()}.away`, gitdir())
  expect(await ann.refusal(run, { uid, repeats: pinnedTo(former) })).toBe(201)
})

test('pinned code that the catalog refuses now, or that no commit has, cannot run again', async () => {
  const ann = await site().as()
  const { uid, former } = await deployTwice(ann, 'obsolete')
  const objects = new GitObjects(gitdir())
  const pinTo = async (commit: string | undefined) =>
    await site()
      .store('ingest')
      .update(dagRuns, runDocumentId(uid, former), ({ value }) => ({ next: { ...value, commit }, answer: undefined }))
  const commitText = async (text: string) =>
    await objects.commit(undefined, new Map([[`dags/obsolete.${uid}.json`, text]]), {
      ...{ summary: 'Deploy', author: 'an earlier release', now_ms: 0 },
    })
  const faulty: readonly (readonly [text: string, reason: string])[] = [
    [ingestContent('obsolete', 'people.csv', { operator: 'ingest_telex' }), 'tasks.0.operator: the catalog has no'],
    [ingestContent('obsolete', ''), 'tasks.0.params.file: '],
    [ingestContent('obsolete', 'people.csv', { operator: 'notify' }), 'tasks.0.params'],
    ['import airflow\n', 'the content is not JSON'],
  ]
  for (const [text, reason] of faulty) {
    await pinTo(await commitText(text))
    const refused = [409, 'wrong_state', expect.stringContaining(`the catalog of operators refuses it now: ${reason}`)]
    expect(await refusalOf(ann, 'obsolete', former)).toEqual(refused)
  }
  await pinTo('e'.repeat(40))
  expect(await refusalOf(ann, 'obsolete', former)).toEqual([409, 'wrong_state', expect.stringContaining('any more')])
  await pinTo(undefined)
  expect(await refusalOf(ann, 'obsolete', former)).toEqual([409, 'wrong_state', expect.stringContaining('no commit')])
  expect(await ann.ok(run, { uid, repeats: { dag_run_id: former, code: 'latest' } })).toMatchObject({ state: 'queued' })
  expect(await ann.refusal(run, { uid, repeats: pinnedTo('manual__none') })).toBe('not_found')
})

test('pinned code reads by no connection that is of another pipeline by now', async () => {
  const ann = await site().as({ roles: ['admin'] })
  const { uid: connection_id } = await ann.ok(connect, {
    ...{ name: 'a source', conn_type: 'sqlite', config: { file: 'none.db' } },
  })
  const contentOf = (dag_id: string) =>
    ingestContent(dag_id, '', { operator: 'ingest_database', params: { connection_id, table: 't' }, retries: 0 })
  const { uid, former } = await deployTwice(ann, 'first', contentOf('first'))
  expect(await ann.refusal(run, { uid, repeats: pinnedTo(former) })).toBe(201)
  const second = await ann.ok(deploy, { dag_id: 'second', content: contentOf('second') })
  expect(await waitUntilDeployed(ann, second.uid)).toMatchObject({ status: 'active' })
  const refused = [409, 'wrong_state', expect.stringContaining('another pipeline reads by the connection')]
  expect(await refusalOf(ann, 'first', former)).toEqual(refused)
})

test('an effect is run again by its pinned code', async () => {
  const ann = await site().as()
  site().writeFile('people.csv', 'id\n1\n')
  const operatorsOf = (file: string) => [{ name: 'ingest_file', params: { file } }]
  const { uid, dag_id } = await ann.ok(create, { name: 'again', operators: operatorsOf('people.csv') })
  const { commit } = await waitUntilEffectDeployed(ann, uid)
  const { dag_run_id: former } = await ann.ok(runEffect, { uid })
  await waitUntilRunOver(ann, dag_id, former)
  await ann.ok(updateEffect, { uid, operators: operatorsOf('missing.csv') })
  expect((await waitUntilEffectDeployed(ann, uid)).commit).not.toBe(commit)
  const { dag_run_id } = await ann.ok(runEffect, { uid, repeats: pinnedTo(former) })
  expect(await waitUntilRunOver(ann, dag_id, dag_run_id)).toMatchObject({ state: 'success', commit })
})
