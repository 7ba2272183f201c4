// The operator notify: a task that raises a signal for its run, once, in the name of a person who may.
import { expect, onTestFinished, test } from 'vitest'
import { errors } from '../../../daemon/roles/ingest/dag-run/errors.ts'
import { status as runStatus } from '../../../daemon/roles/ingest/dag-run/status.ts'
import { deploy } from '../../../daemon/roles/ingest/datapipeline/deploy.ts'
import { run as triggerRun } from '../../../daemon/roles/ingest/datapipeline/run.ts'
import { create as createEffect } from '../../../daemon/roles/ingest/effect/create.ts'
import { get as getEffect } from '../../../daemon/roles/ingest/effect/get.ts'
import { dagRuns } from '../../../daemon/roles/ingest/runner/model.ts'
import { list as listSignals } from '../../../daemon/roles/intelligence/signal/list.ts'
import type { CheckedClient } from '../../support/http/checked-client.ts'
import { startTestSite, waitUntil } from '../../support/site/test-site.ts'
import { openDividedSite } from './divided-site.ts'
import { setUpIngestSite, waitUntilDeployed, waitUntilRunOver } from './ingest-site.ts'
import { deployAndRun } from './run-tasks.ts'

const site = setUpIngestSite(
  {},
  {
    profile: {
      platform: { roles: ['site', 'ingest', 'intelligence'] },
      intelligence: { port: 0 },
      identity: { roles: { loader: ['ingest:*', 'health:read'] } },
      intake: { notice: { severity: 'low', classification: 'RESTRICTED' }, failed_pipeline: { enabled: false } },
    },
  },
)

const read = { name: 'read', operator: 'ingest_file', params: { file: 'rows.csv' } }
const announce = { name: 'announce', operator: 'notify', params: { title: 'The rows are in' }, after: ['read'] }
const contentOf = (dag_id: string, ...tasks: object[]) => JSON.stringify({ format: 1, dag_id, tasks })

const signalsAbout = async (person: CheckedClient, subject_id: string) =>
  (await person.ok(listSignals, { subject_id, limit: 500 })).items

async function deployAnnouncing(person: CheckedClient, dag_id: string, task: object = announce, more: object = {}) {
  site().writeFile('rows.csv', 'a\n1\n')
  const content = contentOf(dag_id, read, task)
  const { uid } = await person.ok(deploy, { dag_id, content, run_on_deploy: true, ...more })
  await waitUntilDeployed(person, uid)
  return { uid, run: await waitUntilRunOver(person, dag_id, 'deploy__1') }
}

test('once the tasks before it have succeeded, it raises what its params say, and the run shows the signal', async () => {
  const ann = await site().as()
  const params = { title: 'The rows are in', text: 'Look at them.', severity: 'critical' }
  const { uid, run } = await deployAnnouncing(ann, 'announced', { ...announce, params })
  expect(run.state).toBe('success')
  const [signal, ...more] = await signalsAbout(ann, uid)
  expect(more).toEqual([])
  expect(signal).toMatchObject({
    ...{ signal_type: 'notice', severity: 'critical', title: 'The rows are in' },
    description: 'Look at them.\n\nRun deploy__1 of announced, task announce.',
    subject: { type: 'asset', id: uid, name: 'announced' },
    ...{ tenant_id: site().tenant, classification: { level: 'RESTRICTED' } },
  })
  const { tasks } = await ann.ok(runStatus, { dag_id: 'announced', dag_run_id: 'deploy__1' })
  expect(tasks[1]).toMatchObject({
    ...{ task_id: 'announce', state: 'success', try_number: 1 },
    requested: { role: 'intelligence', object: 'signal', uid: signal?.uid },
  })
  expect(tasks[1]).not.toHaveProperty('lineage')
})

test('it has the label of the run, and the severity of the profile where it has none', async () => {
  const ann = await site().as()
  const { uid } = await deployAnnouncing(ann, 'secret', announce, { classification: { level: 'SECRET' } })
  expect(await signalsAbout(ann, uid)).toMatchObject([{ severity: 'low', classification: { level: 'SECRET' } }])
  const low = await site().as({ subject: 'bob', clearance: { level: 'RESTRICTED' } })
  expect(await signalsAbout(low, uid)).toEqual([])
})

test('after a task that failed it raises none', async () => {
  const failing = { ...read, params: { file: 'absent.csv' } }
  const { uid, state } = await deployAndRun(site(), 'silent', [failing, announce])
  expect(state).toBe('failed')
  expect(await signalsAbout(await site().as(), uid)).toEqual([])
})

test('it fails for a person who may not write signals, also where the pipeline of another is run', async () => {
  const lou = await site().as({ subject: 'lou', roles: ['loader'] })
  const { uid, run } = await deployAnnouncing(lou, 'loaded')
  expect(run.state).toBe('failed')
  const { items } = await lou.ok(errors, { dag_id: 'loaded', dag_run_id: 'deploy__1' })
  expect(items).toMatchObject([{ task_id: 'announce', log: expect.stringContaining('permission intelligence:write') }])
  const ann = await site().as()
  expect(await signalsAbout(ann, uid)).toEqual([])
  const { uid: shared } = await deployAnnouncing(ann, 'shared')
  const { dag_run_id } = await lou.ok(triggerRun, { uid: shared })
  expect((await waitUntilRunOver(lou, 'shared', dag_run_id)).state).toBe('failed')
  expect(await signalsAbout(ann, shared)).toHaveLength(1)
})

test('an effect may end with it; wrong params are refused with their path', async () => {
  const ann = await site().as()
  site().writeFile('rows.csv', 'a\n1\n')
  const ending = [
    { name: 'ingest_file', params: { file: 'rows.csv' } },
    { name: 'notify', params: { title: 'Done' } },
  ]
  const { uid } = await ann.ok(createEffect, { name: 'an effect', operators: ending, run_on_deploy: true })
  await waitUntil(async () => (await signalsAbout(ann, uid)).length === 1)
  const operators = [{ name: 'notify', params: { title: ' ', severity: 'grave' } }]
  const wrong = await ann.ok(createEffect, { name: 'another', operators })
  const fault = await waitUntil(async () => (await ann.ok(getEffect, { uid: wrong.uid })).fault)
  expect(fault.path).toMatch(/^operators\.0\.params\./)
})

test('where the profile turns notices off, the task says so in its log and succeeds', async () => {
  const world = await startTestSite({
    profile: {
      platform: { roles: ['site', 'ingest', 'intelligence'] },
      ...{ ingest: { port: 0 }, intelligence: { port: 0 }, intake: { notice: { enabled: false } } },
    },
  })
  onTestFinished(() => world.end())
  const ann = await world.as()
  const content = contentOf('off', { ...announce, after: [] })
  const { uid } = await ann.ok(deploy, { dag_id: 'off', content, run_on_deploy: true })
  await waitUntilDeployed(ann, uid)
  expect((await waitUntilRunOver(ann, 'off', 'deploy__1')).state).toBe('success')
  const { tasks } = await ann.ok(runStatus, { dag_id: 'off', dag_run_id: 'deploy__1' })
  expect(tasks[0]).not.toHaveProperty('requested')
  expect(await signalsAbout(ann, uid)).toEqual([])
})

test('a site without the role refuses the content with the reason', async () => {
  const world = await startTestSite({ profile: { platform: { roles: ['site', 'ingest'] }, ingest: { port: 0 } } })
  onTestFinished(() => world.end())
  const ann = await world.as()
  const content = contentOf('refused', { ...announce, after: [] })
  const { uid } = await ann.ok(deploy, { dag_id: 'refused', content })
  const { status, fault } = await waitUntilDeployed(ann, uid)
  expect([status, fault?.reason]).toEqual(['rejected', expect.stringContaining('the site does not run it')])
  expect(fault?.reason).toContain('requests the role intelligence')
})

test('while the role is away the try goes on, also over a crash, and raises one signal in the end', async () => {
  const world = await openDividedSite(['ingest', 'intelligence'])
  await world.start('site', 'ingest')
  const ann = await world.as()
  const content = contentOf('waiting', { ...announce, after: [], retries: 0, time_limit_s: 600 })
  const { uid } = await ann.ok(deploy, { dag_id: 'waiting', content, run_on_deploy: true })
  const id = `${uid}.deploy__1`
  const findRun = async () => (await world.store().get(dagRuns, id))?.value
  await waitUntil(async () => ((await findRun())?.job.failures ?? 0) > 0)
  expect((await findRun())?.tasks).toMatchObject([{ state: 'running', tries: 1, failures: 0 }])
  await world.stop('site', 'ingest')
  await world.start('site', 'ingest')
  await world.start('intelligence')
  await waitUntil(async () => {
    world.clock.advance(1_000)
    world.wake('jobs')
    return (await findRun())?.state === 'success'
  })
  expect((await findRun())?.tasks).toMatchObject([{ state: 'success', tries: 1, failures: 0 }])
  expect(await signalsAbout(await world.as(), uid)).toHaveLength(1)
})

test('while it waits for the role, the tasks that do not wait for it are performed', async () => {
  const world = await openDividedSite(['ingest', 'intelligence'])
  await world.start('site', 'ingest')
  const ann = await world.as()
  const failing = { ...read, params: { file: 'absent.csv' }, retries: 0 }
  const content = contentOf('beside', { ...announce, after: [] }, failing)
  const { uid } = await ann.ok(deploy, { dag_id: 'beside', content, run_on_deploy: true })
  const findRun = async () => (await world.store().get(dagRuns, `${uid}.deploy__1`))?.value
  await waitUntil(async () => ((await findRun())?.job.failures ?? 0) > 0)
  expect((await findRun())?.tasks).toMatchObject([{ state: 'running' }, { state: 'failed', tries: 1 }])
})

test('an answer without a decision on the signal fails the try alone, and the next one raises it', async () => {
  const world = await openDividedSite(['ingest', 'intelligence'])
  const endRefusals = await world.refuseFor('intelligence', 'internal', 1)
  await world.start('site', 'ingest')
  const ann = await world.as()
  const content = contentOf('retried', { ...announce, after: [], retries: 1, retry_delay_s: 1, time_limit_s: 600 })
  const { uid } = await ann.ok(deploy, { dag_id: 'retried', content, run_on_deploy: true })
  const findRun = async () => (await world.store().get(dagRuns, `${uid}.deploy__1`))?.value
  await waitUntil(async () => (await findRun())?.tasks[0]?.failures === 1)
  await endRefusals()
  await world.start('intelligence')
  await waitUntil(async () => {
    world.clock.advance(1_000)
    world.wake('jobs')
    return (await findRun())?.state === 'success'
  })
  expect((await findRun())?.tasks).toMatchObject([{ state: 'success', failures: 1 }])
  expect(await signalsAbout(await world.as(), uid)).toHaveLength(1)
})

test('a try ends at its time limit where the role stays away', async () => {
  const world = await openDividedSite(['ingest', 'intelligence'])
  await world.start('site', 'ingest')
  const ann = await world.as()
  const content = contentOf('late', { ...announce, after: [], retries: 0, time_limit_s: 60 })
  const { uid } = await ann.ok(deploy, { dag_id: 'late', content, run_on_deploy: true })
  const findRun = async () => (await world.store().get(dagRuns, `${uid}.deploy__1`))?.value
  await waitUntil(async () => {
    world.clock.advance(1_000)
    world.wake('jobs')
    return (await findRun())?.state === 'failed'
  })
  expect((await findRun())?.tasks).toMatchObject([{ state: 'failed', tries: 1, failures: 1 }])
})
