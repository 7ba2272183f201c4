// The operator resolve_run: a task that resolves the datasets before it, in the name of the person of the run.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { errors } from '../../../daemon/roles/ingest/dag-run/errors.ts'
import { status as runStatus } from '../../../daemon/roles/ingest/dag-run/status.ts'
import { deploy } from '../../../daemon/roles/ingest/datapipeline/deploy.ts'
import { dagRuns } from '../../../daemon/roles/ingest/runner/model.ts'
import { list as listClusters } from '../../../daemon/roles/resolution/entity-cluster/list.ts'
import { list as listRuns } from '../../../daemon/roles/resolution/fusion-run/list.ts'
import { start } from '../../../daemon/roles/resolution/fusion-run/start.ts'
import { status } from '../../../daemon/roles/resolution/fusion-run/status.ts'
import { create as createLens } from '../../../daemon/roles/resolution/lens/create.ts'
import type { CheckedClient } from '../../support/http/checked-client.ts'
import { waitUntil } from '../../support/site/test-site.ts'
import { buildPeople, buildPersonLens, waitForRunEnd } from '../resolution/resolution-site.ts'
import { openDividedSite } from './divided-site.ts'
import { setUpIngestSite, waitUntilDeployed } from './ingest-site.ts'

const site = setUpIngestSite(
  {},
  {
    profile: {
      platform: { roles: ['site', 'ingest', 'resolution'] },
      resolution: { port: 0 },
      identity: { roles: { loader: ['ingest:*', 'health:read'] } },
    },
  },
)

const toLines = (people: ReturnType<typeof buildPeople>) => people.map((each) => `${JSON.stringify(each)}\n`).join('')
const land = (name: string) => ({ name, operator: 'ingest_file', params: { file: `${name}.jsonl` }, retries: 0 })
const resolveTask = (params: object = {}, more: object = {}) => ({
  ...{ name: 'resolve', operator: 'resolve_run', params: { lens_id: 'people', ...params } },
  ...{ after: ['east', 'west'], retries: 0, ...more },
})

beforeAll(async () => {
  site().writeFile('east.jsonl', toLines(buildPeople(0, 40)))
  site().writeFile('west.jsonl', toLines(buildPeople(20, 60)))
  const ann = await site().as()
  await ann.ok(createLens, { body: buildPersonLens() })
})

async function runTasks(person: CheckedClient, dag_id: string, tasks: readonly object[], more: object = {}) {
  const content = JSON.stringify({ format: 1, dag_id, tasks })
  const { uid } = await person.ok(deploy, { dag_id, content, run_on_deploy: true, ...more })
  const deployed = await waitUntilDeployed(person, uid)
  if (deployed.status === 'rejected') return { fault: deployed.fault }
  const run = await waitUntil(async () => {
    // The task looks at the run of the other role again after a while.
    site().clock.advance(100)
    const seen = await person.ok(runStatus, { dag_id, dag_run_id: 'deploy__1' })
    return (seen.state === 'success' || seen.state === 'failed') && seen
  })
  const { items } = await person.ok(errors, { dag_id, dag_run_id: 'deploy__1' })
  return { run, task: run.tasks.find(({ task_id }) => task_id === 'resolve'), log: items[0]?.log }
}

test('the datasets of the tasks before it are resolved, and the run names the run of the resolution role', async () => {
  const ann = await site().as()
  const { run, task } = await runTasks(ann, 'people', [land('east'), land('west'), resolveTask()])
  expect(run?.state).toBe('success')
  expect(task).toMatchObject({
    state: 'success',
    try_number: 1,
    requested: { role: 'resolution', object: 'fusion_run' },
  })
  const run_id = task?.requested?.uid ?? ''
  const resolved = await ann.ok(status, { run_id })
  expect(resolved).toMatchObject({ state: 'completed', lens: 'people', counts: { records: 80, entities: 60 } })
  const digest = run?.tasks.find(({ task_id }) => task_id === 'east')?.lineage?.digest
  const dataset = { dag_id: 'people', dag_run_id: 'deploy__1', task: 'east', digest }
  expect(resolved.sources[0]).toMatchObject({ node_id: 'east', records: 40, dataset })
  expect((await ann.ok(listClusters, { lens: 'people', limit: 500 })).items.length).toBeGreaterThan(0)
})

test('nodes have the names that the task gives them', async () => {
  const ann = await site().as()
  const nodes = { east: 'registry-east' }
  const { task } = await runTasks(ann, 'named', [land('east'), land('west'), resolveTask({ nodes })])
  const { sources } = await ann.ok(status, { run_id: task?.requested?.uid ?? '' })
  expect(sources.map(({ node_id }) => node_id)).toEqual(['registry-east', 'west'])
})

test('a task may have the name of what every object has', async () => {
  const ann = await site().as()
  const east = { ...land('east'), name: 'constructor' }
  const { task } = await runTasks(ann, 'plain', [
    east,
    land('west'),
    resolveTask({}, { after: ['constructor', 'west'] }),
  ])
  const { sources } = await ann.ok(status, { run_id: task?.requested?.uid ?? '' })
  expect(sources.map(({ node_id }) => node_id)).toEqual(['constructor', 'west'])
})

test('the run of the resolution role has the label of the pipeline', async () => {
  const ann = await site().as()
  const secret = { classification: { level: 'SECRET' } }
  const { task } = await runTasks(ann, 'secret', [land('east'), land('west'), resolveTask()], secret)
  const run_id = task?.requested?.uid ?? ''
  expect((await ann.ok(status, { run_id })).classification).toMatchObject({ level: 'SECRET' })
  const low = await site().as({ subject: 'bob', clearance: { level: 'RESTRICTED' } })
  expect(await low.refusal(status, { run_id })).toBe('not_found')
})

test('a run that the resolution role fails, fails the task with the reason', async () => {
  const ann = await site().as()
  const { run, task, log } = await runTasks(ann, 'unknown_id', [
    land('east'),
    land('west'),
    resolveTask({ id_field: 'number' }, { retries: 3 }),
  ])
  expect(run?.state).toBe('failed')
  expect(task).toMatchObject({ state: 'failed', try_number: 1, requested: { object: 'fusion_run' } })
  expect(log).toMatch(/^run run_[0-9a-f]{32} has failed: .*number/)
})

test('an unknown lens fails the task without a run', async () => {
  const ann = await site().as()
  const { task, log } = await runTasks(ann, 'no_lens', [land('east'), land('west'), resolveTask({ lens_id: 'ships' })])
  expect(task).toMatchObject({ state: 'failed' })
  expect(task).not.toHaveProperty('requested')
  expect(log).toBe('a run by the lens ships was refused: there is no such lens\n')
})

test('a person without the rights of the resolution role resolves nothing', async () => {
  const loader = await site().as({ subject: 'lou', roles: ['loader'] })
  const { task, log } = await runTasks(loader, 'no_rights', [land('east'), land('west'), resolveTask()])
  expect(task).toMatchObject({ state: 'failed' })
  expect(task).not.toHaveProperty('requested')
  expect(log).toMatch(/resolution:write/)
})

test.each<[string, object, RegExp]>([
  ['nodes of a task that is not before it', { nodes: { north: 'n' } }, /names north, which is not a task before it/],
  ['two tasks of one node', { nodes: { east: 'west' } }, /two tasks before it have the same node/],
  ['no lens', { lens_id: undefined }, /lens_id/],
])('a deployment with %s is rejected', async (name, params, reason) => {
  const ann = await site().as()
  const dag_id = `rejected_${name.length}`
  const { fault } = await runTasks(ann, dag_id, [land('east'), land('west'), resolveTask(params)])
  expect(JSON.stringify(fault)).toMatch(reason)
})

const dataset = { dag_id: 'sources', dag_run_id: 'deploy__1', task: 'east' }

test('a person resolves the dataset of a pipeline by naming its task, beside records of the request', async () => {
  const ann = await site().as()
  await runTasks(ann, 'sources', [land('east')])
  const node_data = { east: dataset, west: buildPeople(20, 60) }
  const { run_id } = await ann.ok(start, { lens_id: 'people', node_data, classification: { level: 'RESTRICTED' } })
  expect(await waitForRunEnd(ann, run_id)).toMatchObject({ state: 'completed', counts: { records: 80 } })
})

test.each<[string, object, RegExp]>([
  ['an unknown run', { ...dataset, dag_run_id: 'none' }, /has no run none/],
  ['an unknown task', { ...dataset, task: 'none' }, /has no task none/],
  ['an unknown DAG', { ...dataset, dag_id: 'none' }, /none/],
])('the dataset of %s is refused, with its node', async (_, named, message) => {
  const ann = await site().as()
  const { problem } = await ann.call(start, { lens_id: 'people', node_data: { east: named } as never })
  expect(problem?.errors).toEqual([{ path: 'node_data.east', message: expect.stringMatching(message) }])
})

test('a dataset of a label above the clearance is not there, and no run may have a lower label than its dataset', async () => {
  const ann = await site().as()
  await runTasks(ann, 'hidden', [land('east')], { classification: { level: 'SECRET' } })
  const node_data = { east: { ...dataset, dag_id: 'hidden' }, west: buildPeople(20, 60) }
  const low = await site().as({ subject: 'bob', clearance: { level: 'RESTRICTED' } })
  const { problem } = await low.call(start, { lens_id: 'people', node_data })
  expect(problem?.errors?.[0]?.path).toBe('node_data.east')
  const run = await ann.ok(start, { lens_id: 'people', node_data, classification: { level: 'RESTRICTED' } })
  expect(run.classification).toMatchObject({ level: 'SECRET' })
  await waitForRunEnd(ann, run.run_id)
})

test('a dataset that was replaced or removed since it landed fails the run', async () => {
  const ann = await site().as()
  await runTasks(ann, 'changed', [land('east')])
  const { tasks } = await ann.ok(runStatus, { dag_id: 'changed', dag_run_id: 'deploy__1' })
  const name = tasks[0]?.lineage?.dataset ?? ''
  const folder = path.join(site().folder.data, 'ingest/datasets', site().tenant, name)
  const manifest = readFileSync(path.join(folder, 'dataset.json'), 'utf8')
  writeFileSync(path.join(folder, 'dataset.json'), `${manifest} `)
  const node_data = { east: { ...dataset, dag_id: 'changed' }, west: buildPeople(20, 60) }
  const resolve = async () => await waitForRunEnd(ann, (await ann.ok(start, { lens_id: 'people', node_data })).run_id)
  expect((await resolve()).failure?.reason).toMatch(/^east \(the dataset .*\) cannot be read: it was replaced/)
  rmSync(folder, { recursive: true })
  mkdirSync(folder)
  expect((await resolve()).failure?.reason).toMatch(/^east \(the dataset .*\) cannot be read: it does not exist/)
})

test('while the role is away the try goes on, and one run is started in the end', async () => {
  const data_folder = mkdtempSync(path.join(tmpdir(), 'resolve-run-'))
  onTestFinished(() => rmSync(data_folder, { recursive: true }))
  const world = await openDividedSite(['ingest', 'resolution'], { ingest: { data_folder }, resolution: { port: 0 } })
  mkdirSync(path.join(data_folder, world.tenant))
  for (const name of ['east', 'west'])
    writeFileSync(path.join(data_folder, world.tenant, `${name}.jsonl`), toLines(buildPeople(0, 30)))
  await world.start('site', 'ingest')
  await world.start('resolution')
  const ann = await world.as()
  await ann.ok(createLens, { body: buildPersonLens() })
  await world.stop('resolution')
  const tasks = [land('east'), land('west'), resolveTask({}, { time_limit_s: 86_400 })]
  const content = JSON.stringify({ format: 1, dag_id: 'away', tasks })
  const { uid } = await ann.ok(deploy, { dag_id: 'away', content, run_on_deploy: true })
  const findRun = async () => (await world.store().get(dagRuns, `${uid}.deploy__1`))?.value
  await waitUntil(async () => ((await findRun())?.job.failures ?? 0) > 0)
  expect((await findRun())?.tasks[2]).toMatchObject({ state: 'running', tries: 1, failures: 0 })
  await world.start('resolution')
  const seen = new Set<string | undefined>()
  await waitUntil(async () => {
    world.clock.advance(1_000)
    world.wake('jobs')
    const run = await findRun()
    seen.add(run?.tasks[2]?.requested?.uid)
    return run?.state === 'success'
  })
  expect((await findRun())?.tasks[2]).toMatchObject({ state: 'success', tries: 1, failures: 0 })
  const { items } = await ann.ok(listRuns, {})
  expect(items.map(({ uid }) => uid)).toEqual([...seen].filter((each) => each !== undefined))
})
