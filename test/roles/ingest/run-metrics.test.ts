// Metrics of runs at a site: one record for each run that is over, however it ended, for those alone who may see its object.
import { expect, test } from 'vitest'
import { remove as removeRun } from '../../../daemon/roles/ingest/dag-run/remove.ts'
import { deploy } from '../../../daemon/roles/ingest/datapipeline/deploy.ts'
import { get } from '../../../daemon/roles/ingest/datapipeline/get.ts'
import { list } from '../../../daemon/roles/ingest/datapipeline/list.ts'
import { metrics } from '../../../daemon/roles/ingest/datapipeline/metrics.ts'
import { remove } from '../../../daemon/roles/ingest/datapipeline/remove.ts'
import { run } from '../../../daemon/roles/ingest/datapipeline/run.ts'
import { statuses } from '../../../daemon/roles/ingest/datapipeline/statuses.ts'
import { stop } from '../../../daemon/roles/ingest/datapipeline/stop.ts'
import { create as createEffect } from '../../../daemon/roles/ingest/effect/create.ts'
import { get as getEffect } from '../../../daemon/roles/ingest/effect/get.ts'
import { metrics as metricsOfEffect } from '../../../daemon/roles/ingest/effect/metrics.ts'
import { update as updateEffect } from '../../../daemon/roles/ingest/effect/update.ts'
import { runMetrics } from '../../../daemon/roles/ingest/run-metric/model.ts'
import { dagRuns } from '../../../daemon/roles/ingest/runner/model.ts'
import type { CheckedClient } from '../../support/http/checked-client.ts'
import { callTool } from '../../support/mcp/mcp-client.ts'
import { waitUntil } from '../../support/site/test-site.ts'
import {
  ingestContent,
  setUpIngestSite,
  waitUntilDeployed,
  waitUntilMeasured,
  waitUntilRunOver,
} from './ingest-site.ts'

const site = setUpIngestSite()

async function deployLive(person: CheckedClient, dag_id: string, more: object = {}) {
  site().writeFile(`${dag_id}.csv`, 'a\n1\n2\n')
  const { uid } = await person.ok(deploy, { dag_id, content: ingestContent(dag_id, `${dag_id}.csv`), ...more })
  await waitUntilDeployed(person, uid)
  return uid
}

test('each run that is over has one record: of a deployment, by hand, stopped and failed', async () => {
  const ann = await site().as()
  const uid = await deployLive(ann, 'measured', { run_on_deploy: true })
  expect(await waitUntilMeasured(ann, metrics, uid, 'deploy__1')).toMatchObject({
    ...{ dag_id: 'measured', run_type: 'deployment', state: 'success', rows: 2, rejects: 0, tries: 1, input_bytes: 6 },
    tasks: { total: 1, success: 1, failed: 0, skipped: 0 },
  })
  site().writeFile('measured.csv', '')
  const { dag_run_id: failed } = await ann.ok(run, { uid })
  expect(await waitUntilMeasured(ann, metrics, uid, failed)).toMatchObject({ run_type: 'manual', state: 'failed' })
  const token = ann.token
  await callTool(Number(new URL(site().url('ingest')).port), 'datapipeline_pause', { uid }, { token })
  const { dag_run_id: stopped } = await ann.ok(run, { uid })
  await ann.ok(stop, { uid })
  expect(await waitUntilMeasured(ann, metrics, uid, stopped)).toMatchObject({
    ...{ start_date: null, duration_s: 0, state: 'failed' },
    tasks: { skipped: 1 },
  })
  expect(await ann.ok(metrics, { uid })).toMatchObject({ total: 3, total_is: 'exact' })
  const byTool = await callTool(Number(new URL(site().url('ingest')).port), 'datapipeline_metrics', { uid }, { token })
  expect(byTool.structuredContent).toEqual(await ann.ok(metrics, { uid }))
})

test('reads inline the metrics of the newest ten runs on request, and the states of all are one page', async () => {
  const ann = await site().as()
  const uid = await deployLive(ann, 'inlined')
  for (let count = 0; count < 11; count += 1) {
    const { dag_run_id } = await ann.ok(run, { uid })
    await waitUntilMeasured(ann, metrics, uid, dag_run_id)
    site().clock.advance(1_000)
  }
  expect((await ann.ok(get, { uid })).metrics).toBeUndefined()
  const { items } = await ann.ok(metrics, { uid, limit: 10 })
  expect((await ann.ok(get, { uid, statistics: true })).metrics).toEqual(items)
  const listed = (await ann.ok(list, { statistics: true })).items.find((each) => each.uid === uid)
  expect(listed?.metrics).toEqual(items)
  expect((await ann.ok(list, {})).items[0]?.metrics).toBeUndefined()
  const since = items[3]?.end_date ?? ''
  expect((await ann.ok(metrics, { uid, since })).items).toEqual(items.slice(0, 4))
  expect(await ann.ok(metrics, { uid, since: '2999-01-01T00:00:00Z' })).toMatchObject({ items: [], total: 0 })
  const state = (await ann.ok(statuses, {})).items.find((each) => each.uid === uid)
  expect(state).toMatchObject({ status: 'active', dag_id: 'inlined', last_run: { state: 'success' }, schedule: null })
  expect(state).not.toHaveProperty('content')
  for (const prefix of ['/userspace', '/api/v1']) {
    const { status } = await site().call('ingest', 'GET', `${prefix}/status/datapipeline`, undefined, {
      token: ann.token,
    })
    expect(status).toBe(200)
  }
})

test('a run that ended before a crash is measured after it, and one that was measured is not measured again', async () => {
  const ann = await site().as()
  const uid = await deployLive(ann, 'crashed', { run_on_deploy: true })
  await waitUntilMeasured(ann, metrics, uid, 'deploy__1')
  const store = () => site().store('ingest')
  const id = `${uid}.deploy__1`
  await waitUntil(async () => (await store().get(dagRuns, id))?.value.unmeasured === undefined)
  const [record] = (await store().list(runMetrics, { filter: { object: uid }, limit: 9 })).docs
  // As a process leaves it that ends before the run is marked, and one that ends before the record.
  const markAgain = () =>
    store().update(dagRuns, id, ({ value }) => ({ next: { ...value, unmeasured: 1 as const }, answer: undefined }))
  for (const isRecorded of [true, false]) {
    await markAgain()
    if (!isRecorded) await store().remove(runMetrics, record?.id ?? '')
    await site().restart()
    site().wakeWorker('ingest', 'run-metrics')
    await waitUntil(async () => (await store().get(dagRuns, id))?.value.unmeasured === undefined)
    const { docs } = await store().list(runMetrics, { filter: { object: uid }, limit: 9 })
    expect(docs.map((doc) => doc.id)).toEqual([record?.id])
    expect(docs[0]?.value.end_date).toBe(record?.value.end_date)
  }
})

test('the record of a deleted run stays, and those of a deleted pipeline go with it', async () => {
  const ann = await site().as()
  const uid = await deployLive(ann, 'removed', { run_on_deploy: true })
  await waitUntilRunOver(ann, 'removed', 'deploy__1')
  await ann.ok(removeRun, { dag_id: 'removed', dag_run_id: 'deploy__1' })
  expect((await ann.ok(metrics, { uid })).items).toMatchObject([{ dag_run_id: 'deploy__1', state: 'success' }])
  await ann.ok(remove, { uid })
  expect(await ann.refusal(metrics, { uid })).toBe('not_found')
  expect(
    (
      await site()
        .store('ingest')
        .list(runMetrics, { filter: { object: uid }, limit: 9 })
    ).docs,
  ).toEqual([])
  expect(await deployLive(ann, 'removed')).toBe(uid)
  expect((await ann.ok(metrics, { uid })).items).toEqual([])
})

test('metrics have the tenant and label of their object, and nobody reads them by another', async () => {
  const ann = await site().as()
  const secret = await deployLive(ann, 'secret', { run_on_deploy: true, classification: { level: 'SECRET' } })
  await waitUntilMeasured(ann, metrics, secret, 'deploy__1')
  const [stored] = (
    await site()
      .store('ingest')
      .list(runMetrics, { filter: { object: secret }, limit: 9 })
  ).docs
  expect(stored?.value).toMatchObject({ tenant_id: site().tenant, label: { level: 'SECRET' }, created_by: 'ann' })
  const operators = [{ name: 'ingest_file', params: { file: 'secret.csv' } }]
  const effect = await ann.ok(createEffect, { name: 'e', operators, run_on_deploy: true, visibility: 'RESTRICTED' })
  await waitUntilMeasured(ann, metricsOfEffect, effect.uid, 'deploy__1')
  const low = await site().as({ subject: 'bob', clearance: { level: 'RESTRICTED' } })
  const other = await site().as({ subject: 'eve', tenant: 'bravo' })
  expect((await low.ok(metricsOfEffect, { uid: effect.uid })).items).toHaveLength(1)
  expect((await low.ok(getEffect, { uid: effect.uid, statistics: true })).metrics).toHaveLength(1)
  // Under the label that it had when the run ended: a caller that may not see the object any more sees no record of it.
  await ann.ok(updateEffect, { uid: effect.uid, visibility: 'SECRET' })
  for (const person of [low, other]) {
    expect(await person.refusal(metrics, { uid: secret })).toBe('not_found')
    expect(await person.refusal(metricsOfEffect, { uid: effect.uid })).toBe('not_found')
    expect(await person.refusal(get, { uid: secret, statistics: true })).toBe('not_found')
    const seen = JSON.stringify([await person.ok(list, { statistics: true }), await person.ok(statuses, {})])
    expect(seen).not.toContain(secret)
  }
  expect(await ann.refusal(metrics, { uid: effect.uid })).toBe('not_found')
  const nobody = await site().as({ subject: 'no', roles: ['nobody'] })
  expect(await nobody.refusal(metrics, { uid: secret })).toBe('forbidden')
  for (const wrong of [{ limit: 0 }, { limit: 501 }, { since: 'yesterday' }])
    expect(await ann.refusal(metrics, { uid: secret, ...wrong })).toBe('invalid')
  expect(site().loggedErrors).toEqual([])
})
