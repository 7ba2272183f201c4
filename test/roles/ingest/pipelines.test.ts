// Pipelines on the embedded scheduler, from a file of the tenant to a landed dataset.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { list as dagList } from '../../../daemon/roles/ingest/dag/list.ts'
import { errors } from '../../../daemon/roles/ingest/dag-run/errors.ts'
import { list as runList } from '../../../daemon/roles/ingest/dag-run/list.ts'
import { remove as removeRun } from '../../../daemon/roles/ingest/dag-run/remove.ts'
import { status as runStatus } from '../../../daemon/roles/ingest/dag-run/status.ts'
import { trigger } from '../../../daemon/roles/ingest/dag-run/trigger.ts'
import { deploy } from '../../../daemon/roles/ingest/datapipeline/deploy.ts'
import { get } from '../../../daemon/roles/ingest/datapipeline/get.ts'
import { list } from '../../../daemon/roles/ingest/datapipeline/list.ts'
import { remove } from '../../../daemon/roles/ingest/datapipeline/remove.ts'
import { run } from '../../../daemon/roles/ingest/datapipeline/run.ts'
import { runs } from '../../../daemon/roles/ingest/datapipeline/runs.ts'
import { status } from '../../../daemon/roles/ingest/datapipeline/status.ts'
import { stop } from '../../../daemon/roles/ingest/datapipeline/stop.ts'
import { update } from '../../../daemon/roles/ingest/datapipeline/update.ts'
import { health } from '../../../daemon/roles/ingest/workflow/health.ts'
import { ingestContent, setUpIngestSite, waitUntilDeployed, waitUntilRunOver } from './ingest-site.ts'

const site = setUpIngestSite()

test('a file of the tenant becomes a landed dataset, and the run says what it made', async () => {
  const ann = await site().as()
  site().writeFile('people.csv', 'id,name,born\n1,Ann,1990-02-01\n2,Bob,1985-12-24\n')
  const { uid, status: first } = await ann.ok(deploy, {
    dag_id: 'people',
    content: ingestContent('people', 'people.csv'),
  })
  expect(first).toBe('pending_validation')
  expect(await waitUntilDeployed(ann, uid)).toMatchObject({ status: 'active', subtype: 'datapipeline' })
  expect((await ann.ok(dagList, {})).items).toContainEqual({
    dag_id: 'people',
    is_paused: false,
    is_active: true,
    next_run: null,
  })

  const { dag_run_id } = await ann.ok(run, { uid, conf: { why: 'a test' } })
  expect(await waitUntilRunOver(ann, 'people', dag_run_id)).toMatchObject({ state: 'success', conf: { why: 'a test' } })
  const { tasks } = await ann.ok(runStatus, { dag_id: 'people', dag_run_id })
  expect(tasks).toMatchObject([{ task_id: 'read', state: 'success', try_number: 1 }])
  const datasets = join(site().folder.data, 'ingest', 'datasets', site().tenant)
  const [of = ''] = readdirSync(datasets).filter((name) => name.startsWith(`${uid}.${dag_run_id}.`))
  const dataset = join(datasets, of, 'read')
  const manifest = JSON.parse(readFileSync(join(dataset, 'dataset.json'), 'utf8'))
  expect(manifest).toMatchObject({ rows: 2, rejects: { rows: 0 }, inputs: [{ name: 'people.csv', rows: 2 }] })
  expect(manifest.columns.map(({ type }: { type: string }) => type)).toEqual(['int64', 'text', 'date'])
  expect(existsSync(join(dataset, manifest.files[0].name))).toBe(true)
  expect(await ann.ok(status, { uid })).toMatchObject({ status: 'active', last_run: { dag_run_id, state: 'success' } })
  expect(await ann.ok(runs, { uid })).toMatchObject({ total: 1 })
  expect(await ann.ok(health, {})).toMatchObject({ kind: 'embedded', scheduler: 'healthy' })
  const { json } = await site().call('ingest', 'GET', '/health', undefined, { token: ann.token })
  const scheduler = { name: 'workflow scheduler', state: 'ok', detail: 'embedded: answers' }
  expect(json).toMatchObject({
    status: 'ok',
    dependencies: expect.arrayContaining([expect.objectContaining(scheduler)]),
  })
})

test('what the check refuses is named, and the DAG before stays live', async () => {
  const ann = await site().as()
  const { uid } = await ann.ok(deploy, { dag_id: 'checked', content: ingestContent('checked', 'people.csv') })
  await waitUntilDeployed(ann, uid)
  const faulty: readonly (readonly [content: string, reason: string, path?: string])[] = [
    ['{"format": 1, "dag_id": "checked"', 'the content is not JSON'],
    ['format: 1', 'the content is not JSON'],
    [ingestContent('other', 'people.csv'), 'the content is of the DAG other, not checked', 'dag_id'],
    [ingestContent('checked', ''), 'must not be empty', 'tasks.0.params.file'],
    [
      ingestContent('checked', 'a.csv', { operator: 'ingest_files' }),
      'the catalog has no operator ingest_files',
      'tasks.0.operator',
    ],
    [ingestContent('checked', 'a.csv', { after: ['read'] }), 'these wait for each other: read > read', 'tasks'],
  ]
  for (const [content, reason, path] of faulty) {
    await ann.ok(update, { uid, content })
    const rejected = await waitUntilDeployed(ann, uid)
    expect(rejected).toMatchObject({ status: 'rejected', fault: { reason: expect.stringContaining(reason) } })
    expect(rejected.fault?.path).toBe(path)
  }
  const { dag_run_id } = await ann.ok(trigger, { dag_id: 'checked' })
  expect((await waitUntilRunOver(ann, 'checked', dag_run_id)).state).toBe('success')
  await ann.ok(update, { uid, content: ingestContent('checked', 'people.csv') })
  expect(await waitUntilDeployed(ann, uid)).toMatchObject({ status: 'active' })
  expect((await ann.ok(get, { uid })).fault).toBeUndefined()
})

test('a DAG of Python needs Airflow, and a DAG has one pipeline', async () => {
  const ann = await site().as()
  expect(await ann.refusal(deploy, { dag_id: 'python', content: 'from airflow import DAG\n' })).toBe('needs_airflow')
  expect(await ann.refusal(deploy, { dag_id: 'people', content: ingestContent('people', 'people.csv') })).toBe(
    'already_exists',
  )
})

test('a file that cannot be read fails its run with the reason, and another file cures the next', async () => {
  const ann = await site().as()
  const content = ingestContent('missing', 'later.csv')
  const { uid } = await ann.ok(deploy, { dag_id: 'missing', content, run_on_deploy: true })
  await waitUntilDeployed(ann, uid)
  expect(await waitUntilRunOver(ann, 'missing', 'deploy__1')).toMatchObject({ state: 'failed' })
  const failed = await ann.ok(errors, { dag_id: 'missing', dag_run_id: 'deploy__1' })
  expect(failed.items).toMatchObject([{ task_id: 'read', log: expect.stringContaining('does not exist') }])
  site().writeFile('later.csv', 'a\n1\n')
  const { dag_run_id } = await ann.ok(run, { uid })
  expect((await waitUntilRunOver(ann, 'missing', dag_run_id)).state).toBe('success')
  expect((await ann.ok(runList, { dag_id: 'missing', state: 'failed' })).items).toHaveLength(1)
  expect((await ann.ok(stop, { uid })).items).toEqual([])
  await ann.ok(removeRun, { dag_id: 'missing', dag_run_id })
  expect((await ann.ok(runs, { uid })).items).toHaveLength(1)
  await ann.ok(remove, { uid })
  expect(await ann.refusal(get, { uid })).toBe('not_found')
  expect((await ann.ok(list, {})).items.map(({ dag_id }) => dag_id)).not.toContain('missing')
})

test('runs of a paused pipeline wait until it is resumed', async () => {
  const ann = await site().as()
  site().writeFile('paused.csv', 'a\n1\n')
  const { uid } = await ann.ok(deploy, { dag_id: 'paused', content: ingestContent('paused', 'paused.csv') })
  await waitUntilDeployed(ann, uid)
  expect(await ann.ok(update, { uid, action: 'pause' })).toMatchObject({ status: 'paused' })
  const { dag_run_id } = await ann.ok(run, { uid })
  expect((await ann.ok(dagList, { active_only: true })).items.map(({ dag_id }) => dag_id)).not.toContain('paused')
  expect(await ann.ok(runStatus, { dag_id: 'paused', dag_run_id })).toMatchObject({ state: 'queued' })
  expect(await ann.refusal(remove, { uid })).toBe('wrong_state')
  await ann.ok(update, { uid, action: 'unpause' })
  expect((await waitUntilRunOver(ann, 'paused', dag_run_id)).state).toBe('success')
})

test('a stopped run has the reason, and a deleted pipeline takes its runs with it', async () => {
  const ann = await site().as()
  site().writeFile('stopped.csv', 'a\n1\n')
  const content = ingestContent('stopped', 'stopped.csv')
  const { uid } = await ann.ok(deploy, { dag_id: 'stopped', content })
  await waitUntilDeployed(ann, uid)
  await ann.ok(update, { uid, action: 'pause' })
  const { dag_run_id } = await ann.ok(run, { uid })
  const { items } = await ann.ok(stop, { uid })
  expect(items).toMatchObject([{ dag_run_id, state: 'failed', reason: 'it was stopped' }])
  await ann.ok(remove, { uid })
  const again = await ann.ok(deploy, { dag_id: 'stopped', content })
  await waitUntilDeployed(ann, again.uid)
  expect((await ann.ok(runs, { uid: again.uid })).items).toEqual([])
})

test('a DAG above the clearance of a caller stays hidden, and is never run in place of its own', async () => {
  const low = await site().as({ subject: 'bob', clearance: { level: 'RESTRICTED' } })
  const ann = await site().as()
  site().writeFile('high.csv', 'a\n1\n')
  site().writeFile('low.csv', 'a,b\n1,2\n')
  const level = (name: string) => ({ classification: { level: name } })
  const high = await ann.ok(deploy, { dag_id: 'both', content: ingestContent('both', 'high.csv'), ...level('SECRET') })
  const own = await low.ok(deploy, {
    dag_id: 'both',
    content: ingestContent('both', 'low.csv'),
    ...level('RESTRICTED'),
  })
  await waitUntilDeployed(ann, high.uid)
  await waitUntilDeployed(low, own.uid)
  expect(own.uid).not.toBe(high.uid)
  expect(await low.refusal(get, { uid: high.uid })).toBe('not_found')
  const ofLow = await low.ok(trigger, { dag_id: 'both' })
  await waitUntilRunOver(low, 'both', ofLow.dag_run_id)
  expect((await ann.ok(runs, { uid: high.uid })).items).toEqual([])
  expect((await low.ok(runs, { uid: own.uid })).items).toHaveLength(1)
  await ann.ok(run, { uid: high.uid })
  expect((await low.ok(runList, { dag_id: 'both' })).items).toHaveLength(1)
})
