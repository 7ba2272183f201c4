// Tasks that workers of Airflow hand to the site: what the site performs for them, in whose name, and what no file can make it do.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { create } from '../../../daemon/roles/ingest/connection/create.ts'
import { status as runStatus } from '../../../daemon/roles/ingest/dag-run/status.ts'
import { deploy } from '../../../daemon/roles/ingest/datapipeline/deploy.ts'
import { run } from '../../../daemon/roles/ingest/datapipeline/run.ts'
import { stop } from '../../../daemon/roles/ingest/datapipeline/stop.ts'
import { update } from '../../../daemon/roles/ingest/datapipeline/update.ts'
import { dagRuns } from '../../../daemon/roles/ingest/runner/model.ts'
import { find } from '../../../daemon/roles/resolution/entity/find.ts'
import { create as createLens } from '../../../daemon/roles/resolution/lens/create.ts'
import { revoke } from '../../../daemon/roles/site/token/revoke.ts'
import {
  handoverFileName,
  requestsFolder,
  resultsFolder,
} from '../../../daemon/runtime/ingest/handover/handover-folder.ts'
import { runCommand } from '../../support/command/run-command.ts'
import type { CheckedClient } from '../../support/http/checked-client.ts'
import { openScriptedAirflow, scriptedAirflowSections } from '../../support/ingest/scripted-airflow.ts'
import { performAt, performRun, readSpecification, runNameOf } from '../../support/ingest/scripted-worker.ts'
import { waitUntil } from '../../support/site/test-site.ts'
import { buildPeople, buildPersonLens } from '../resolution/resolution-site.ts'
import { createDatabase, readLanded, setUpIngestSite, waitUntilDeployed } from './ingest-site.ts'

const airflow = await openScriptedAirflow()
const folder = mkdtempSync(path.join(tmpdir(), 'site-tasks-'))
const received: string[] = []
/** Of the next answers. */
const statuses: number[] = []
const service = createServer((request, response) => {
  received.push(`${request.method} ${request.url} ${request.headers.authorization}`)
  request.resume()
  response.writeHead(statuses.shift() ?? 201, { 'content-type': 'application/json' }).end('{"id":"C-1"}')
})
await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve))
writeFileSync(path.join(folder, 'authorization'), 'ApiKey secret\n', { mode: 0o600 })
const url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`
const { identity, ingest } = scriptedAirflowSections(airflow.base_url, folder)
const http_targets = [
  { name: 'cases', url, operator: 'external_dispatch', authorization_file: path.join(folder, 'authorization') },
]
const site = setUpIngestSite(
  { ...ingest, http_targets, trusted_networks: ['127.0.0.1'] },
  {
    profile: {
      platform: { roles: ['site', 'ingest', 'intelligence', 'resolution'] },
      identity,
      ...{ intelligence: { port: 0 }, resolution: { port: 0 } },
    },
  },
)
beforeEach(() => {
  airflow.runs.clear()
  received.length = 0
})
afterAll(() => {
  airflow.close()
  service.close()
  rmSync(folder, { recursive: true, force: true })
})

const worker = () => ({ dags: folder, folder, dataFolder: path.dirname(site().files) })
const { path: requests } = requestsFolder(folder, 'alpha')
const { path: results } = resultsFolder(folder, 'alpha')
const admin = () => site().as({ roles: ['admin'] })

const contentOf = (dag_id: string, tasks: readonly object[]) =>
  JSON.stringify({ format: 1, dag_id, tasks: tasks.map((task) => ({ retries: 1, ...task })) })

async function deployTasks(person: CheckedClient, dag_id: string, tasks: readonly object[]): Promise<string> {
  const { uid } = await person.ok(deploy, { dag_id, content: contentOf(dag_id, tasks) })
  expect(await waitUntilDeployed(person, uid)).toMatchObject({ status: 'active' })
  return uid
}

/** Lets the site look at requests and results while a worker waits. */
async function serve<T>(act: Promise<T>): Promise<T> {
  let isOver = false
  const done = act.finally(() => {
    isOver = true
  })
  done.catch(() => undefined)
  await waitUntil(() => {
    site().clock.advance(100)
    site().wakeWorker('ingest', 'site-tasks')
    return isOver
  })
  return await done
}

async function openTable(name: string): Promise<object> {
  createDatabase(
    path.join(site().files, `${name}.db`),
    "CREATE TABLE t (id INTEGER, name TEXT); INSERT INTO t VALUES (1, 'a'), (2, 'b')",
  )
  const made = await (await admin()).ok(create, { name, conn_type: 'sqlite', config: { file: `${name}.db` } })
  return {
    name: 'read',
    operator: 'ingest_database',
    params: { connection_id: made.uid, table: 't', cursor_column: 'id' },
  }
}

const addRow = (name: string, id: number) =>
  createDatabase(path.join(site().files, `${name}.db`), `INSERT INTO t VALUES (${id}, 'more')`)

const trigger = async (person: CheckedClient, uid: string) => (await person.ok(run, { uid })).dag_run_id
const findPart = async (uid: string, dag_run_id: string) =>
  (await site().store('ingest').get(dagRuns, `${uid}.${dag_run_id}`))?.value

/** Until the site has seen the end of the run, and forgotten its part of it. */
async function passEnd(uid: string, dag_run_id: string): Promise<void> {
  await waitUntil(async () => {
    site().clock.advance(60_000)
    for (const name of ['jobs', 'run-metrics']) site().wakeWorker('ingest', name)
    return (await findPart(uid, dag_run_id)) === undefined
  })
}

async function landedIds(dataset = ''): Promise<(string | undefined)[]> {
  return (await readLanded(path.join(folder, 'datasets', site().tenant, dataset))).map(([id]) => id)
}

test('a run reads what is new, tasks of workers go on with it, and the next run begins where it ended', async () => {
  const ann = await admin()
  const some = {
    name: 'some',
    operator: 'filter',
    params: { where: { column: 'id', is: 'at_least', value: 2 } },
    after: ['read'],
  }
  const uid = await deployTasks(ann, 'growing', [await openTable('growing'), some])
  expect(readSpecification(folder, uid).site?.tasks).toEqual(['read'])
  const first = await trigger(ann, uid)
  const [read, filtered] = await serve(performRun(airflow, worker(), { uid, dag_run_id: first }))
  expect([await landedIds(read?.dataset?.dataset), await landedIds(filtered?.dataset?.dataset)]).toEqual([
    ['1', '2'],
    ['2'],
  ])
  await passEnd(uid, first)
  addRow('growing', 3)
  const second = await trigger(ann, uid)
  const [more] = await serve(performRun(airflow, worker(), { uid, dag_run_id: second }))
  expect(more?.lineage).toMatchObject({ rows_out: 1, dataset: more?.dataset?.dataset })
  expect(await landedIds(more?.dataset?.dataset)).toEqual(['3'])
  await waitUntil(() => {
    site().wakeWorker('ingest', 'site-tasks')
    return readdirSync(results).length === 0
  })
  expect(readdirSync(requests)).toEqual([])
})

test('of two runs at once the second reads after the first has ended, and takes no row twice', async () => {
  const ann = await admin()
  const uid = await deployTasks(ann, 'at_once', [await openTable('at_once')])
  const [first, second] = [await trigger(ann, uid), await trigger(ann, uid)]
  const [one, other] = await serve(
    Promise.all([first, second].map((dag_run_id) => performAt(worker(), { uid, dag_run_id, task: 'read' }))),
  )
  const ids = [await landedIds(one?.dataset?.dataset), await landedIds(other?.dataset?.dataset)]
  expect(ids.flat().toSorted()).toEqual(['1', '2'])
})

test('the site resolves, raises a signal and dispatches for a worker, in the name of the person of the run', async () => {
  const ann = await admin()
  await ann.ok(createLens, { body: buildPersonLens() })
  site().writeFile(
    'east.jsonl',
    buildPeople(0, 20)
      .map((each) => `${JSON.stringify(each)}\n`)
      .join(''),
  )
  const uid = await deployTasks(ann, 'whole', [
    { name: 'east', operator: 'ingest_file', params: { file: 'east.jsonl' } },
    { name: 'resolve', operator: 'resolve_run', params: { lens_id: 'people', accept_poor: true }, after: ['east'] },
    { name: 'raise', operator: 'notify', params: { title: 'Resolved' }, after: ['resolve'] },
    { name: 'hand', operator: 'external_dispatch', params: { target: 'cases', payload: { a: 1 } }, after: ['resolve'] },
  ])
  const dag_run_id = await trigger(ann, uid)
  const done = await serve(performRun(airflow, worker(), { uid, dag_run_id }))
  expect(done.map(({ task, state }) => [task, state])).toEqual(
    ['east', 'resolve', 'raise', 'hand'].map((task) => [task, 'success']),
  )
  expect(received).toEqual(['POST / ApiKey secret'])
  const { tasks, classification } = await ann.ok(runStatus, { dag_id: 'whole', dag_run_id })
  expect(classification?.level).toBe('UNCLASSIFIED')
  expect(tasks.map(({ requested }) => requested?.object)).toEqual([undefined, 'fusion_run', 'signal', undefined])
  expect(tasks[3]?.lineage).toMatchObject({ rows_out: 1 })
  const { uid: entity } = await ann.ok(find, { lens: 'people', node_id: 'east', record_id: 'p5' })
  const words = ['resolve', 'origin', entity, '--site', path.dirname(site().folder.profile), '--token', ann.token]
  const { stdout } = await runCommand(words)
  expect(stdout).toContain(`task east of the run ${dag_run_id} of whole`)
  expect(stdout).toContain('line 6 of east.jsonl')
})

test('a try that failed is followed by another, as the scheduler decides', async () => {
  const ann = await admin()
  const params = { target: 'cases', payload: { a: 1 } }
  const uid = await deployTasks(ann, 'corrected', [{ name: 'hand', operator: 'external_dispatch', params }])
  const dag_run_id = await trigger(ann, uid)
  statuses.push(503)
  const perform = (attempt: number) => serve(performAt(worker(), { uid, dag_run_id, task: 'hand', attempt }))
  expect(await perform(1)).toMatchObject({ state: 'failed', failure: { is_final: false } })
  const again = await perform(2)
  expect(again).toMatchObject({ state: 'success', dataset: { rows: 1 } })
  // A worker that lost the result finds it again.
  expect(await perform(3)).toEqual(again)
  expect(received).toHaveLength(2)
})

test('a reading that has failed for good is not repeated: another run may have read on', async () => {
  const ann = await admin()
  const uid = await deployTasks(ann, 'passed', [await openTable('passed')])
  createDatabase(path.join(site().files, 'passed.db'), 'ALTER TABLE t RENAME TO other')
  const dag_run_id = await trigger(ann, uid)
  const perform = (attempt: number) => serve(performAt(worker(), { uid, dag_run_id, task: 'read', attempt }))
  expect(await perform(1)).toMatchObject({ state: 'failed', failure: { is_final: true } })
  createDatabase(path.join(site().files, 'passed.db'), 'ALTER TABLE other RENAME TO t')
  expect((await perform(2)).failure?.reason).toContain('trigger another run')
  const next = await trigger(ann, uid)
  expect(await serve(performAt(worker(), { uid, dag_run_id: next, task: 'read' }))).toMatchObject({
    dataset: { rows: 2 },
  })
})

test('a task goes on by the DAG that was deployed while its run went on', async () => {
  const ann = await admin()
  const task = await openTable('redeployed')
  const uid = await deployTasks(ann, 'redeployed', [task])
  const dag_run_id = await trigger(ann, uid)
  const raise = { name: 'raise', operator: 'notify', params: { title: 'Read' }, after: ['read'] }
  await ann.ok(update, { uid, content: contentOf('redeployed', [task, raise]) })
  await waitUntil(() => readSpecification(folder, uid).site?.tasks.length === 2)
  const [read, raised] = await serve(performRun(airflow, worker(), { uid, dag_run_id }))
  expect([read, raised]).toMatchObject([{ dataset: { rows: 2 } }, { requested: { object: 'signal' } }])
})

test('a person who lost the right, and a run that was stopped, end the tasks that workers wait for', async () => {
  const ann = await admin()
  const uid = await deployTasks(ann, 'ended', [await openTable('ended')])
  const olga = await site().as({ subject: 'olga', roles: ['operator'] })
  const lost = await trigger(olga, uid)
  await ann.ok(revoke, { subject: 'olga', reason: 'left' })
  const denied = await serve(performAt(worker(), { uid, dag_run_id: lost, task: 'read' }))
  expect(denied).toMatchObject({ state: 'failed', failure: { is_final: true } })
  const stopped = await trigger(ann, uid)
  await ann.ok(stop, { uid })
  await passEnd(uid, stopped)
  const late = await serve(performAt(worker(), { uid, dag_run_id: stopped, task: 'read' }))
  expect(late.failure).toEqual({ is_final: true, reason: expect.stringContaining('was over before') })
})

const at = (name: string) => path.join(requests, name)

test('a request for another task, DAG, dataset or run is refused, and files that are none are left alone', async () => {
  const ann = await admin()
  const read = await openTable('attacked')
  const land = { name: 'land', operator: 'ingest_file', params: { file: 'east.jsonl' } }
  const uid = await deployTasks(ann, 'attacked', [read, land])
  const dag_run_id = await trigger(ann, uid)
  const { pipeline, site: of } = readSpecification(folder, uid)
  const dataset = { dataset: 'other/read', rows: 1, rejects: 0, bytes: 1, digest: 'a'.repeat(64) }
  const honest = {
    ...{ format: 1 as const, pipeline, dag_run_id, run: runNameOf(pipeline, dag_run_id), task: 'read', attempt: 1 },
    ...{ dag_digest: of?.dag_digest ?? '', inputs: [] as object[] },
  }
  const cases: readonly [change: Partial<typeof honest>, reason: string][] = [
    [{ task: 'land' }, 'is not one that the site performs'],
    [{ task: 'absent' }, 'is not one that the site performs'],
    [{ dag_digest: 'b'.repeat(64) }, 'another version of the DAG'],
    [{ inputs: [dataset] }, 'is not one of a task before'],
    [{ dag_run_id: 'manual__other', run: runNameOf(pipeline, 'manual__other') }, 'has not triggered the run'],
  ]
  for (const [change, reason] of cases) {
    const request = { ...honest, ...change }
    const name = handoverFileName(request as Parameters<typeof handoverFileName>[0])
    writeFileSync(at(name), JSON.stringify(request))
    const answered = await waitUntil(() => {
      site().wakeWorker('ingest', 'site-tasks')
      return readdirSync(results).includes(name)
    })
    expect([answered, reason]).toEqual([true, reason])
    expect(JSON.parse(readFileSync(path.join(results, name), 'utf8')).failure.reason).toContain(reason)
    rmSync(at(name))
  }
  expect((await findPart(uid, dag_run_id))?.requests).toBeUndefined()
  const names = ['1', '2', '3', '4'].map((digit) => `${digit.repeat(32)}.json`)
  const [link = '', large = '', misnamed = '', directory = ''] = names
  symlinkSync('/etc/passwd', at(link))
  writeFileSync(at(large), 'x'.repeat(262_145))
  writeFileSync(at(misnamed), JSON.stringify(honest))
  mkdirSync(at(directory))
  expect(await serve(performAt(worker(), { uid, dag_run_id, task: 'read' }))).toMatchObject({ state: 'success' })
  expect(readdirSync(results).filter((name) => names.includes(name))).toEqual([])
  for (const name of names) rmSync(at(name), { recursive: true })
})

test('a worker that is stopped withdraws its request', async () => {
  const ann = await admin()
  const uid = await deployTasks(ann, 'withdrawn', [await openTable('withdrawn')])
  const stopping = new AbortController()
  const waiting = performAt({ ...worker(), signal: stopping.signal }, { uid, dag_run_id: 'manual__x', task: 'read' })
  await waitUntil(() => readdirSync(requests).length > 0)
  stopping.abort(new Error('interrupted'))
  await expect(waiting).rejects.toThrow('interrupted')
  expect(readdirSync(requests)).toEqual([])
})
