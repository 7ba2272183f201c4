// Runs of Airflow that the site triggers: each is watched until its end, whatever happens in between, and then measured and counted.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { serviceCaller } from '../../../daemon/kernel/identity/admit-caller.ts'
import type { Call } from '../../../daemon/kernel/operation/call.ts'
import { scopedStore } from '../../../daemon/kernel/store/scoped-store.ts'
import { remove as removeRun } from '../../../daemon/roles/ingest/dag-run/remove.ts'
import { deploy } from '../../../daemon/roles/ingest/datapipeline/deploy.ts'
import { get } from '../../../daemon/roles/ingest/datapipeline/get.ts'
import { metrics } from '../../../daemon/roles/ingest/datapipeline/metrics.ts'
import { remove } from '../../../daemon/roles/ingest/datapipeline/remove.ts'
import { run } from '../../../daemon/roles/ingest/datapipeline/run.ts'
import { stop } from '../../../daemon/roles/ingest/datapipeline/stop.ts'
import { failureReports } from '../../../daemon/roles/ingest/failure-report/model.ts'
import type { LineageEvent } from '../../../daemon/roles/ingest/lineage/open-lineage.ts'
import { runMetrics } from '../../../daemon/roles/ingest/run-metric/model.ts'
import { runWatches, type StoredRunWatch } from '../../../daemon/roles/ingest/run-watch/model.ts'
import { endWatch, missRun, watchAgain } from '../../../daemon/roles/ingest/run-watch/rules.ts'
import { removeEndedWatches } from '../../../daemon/roles/ingest/run-watch/watch-run.ts'
import { revoke } from '../../../daemon/roles/site/token/revoke.ts'
import type { CheckedClient } from '../../support/http/checked-client.ts'
import { openScriptedAirflow, scriptedAirflowSections } from '../../support/ingest/scripted-airflow.ts'
import { waitUntil } from '../../support/site/test-site.ts'
import { ingestContent, setUpIngestSite, waitUntilDeployed, waitUntilMeasured } from './ingest-site.ts'

const airflow = await openScriptedAirflow()
const folder = mkdtempSync(path.join(tmpdir(), 'dags-'))
const sections = scriptedAirflowSections(airflow.base_url, folder)
const events: [event: string, fields: Readonly<Record<string, unknown>>][] = []
const lineageFile = path.join(folder, 'lineage.jsonl')
const lineage_sinks = [{ file: lineageFile, clearance: { level: 'TOP_SECRET' } }]
const site = setUpIngestSite(
  { ...sections.ingest, lineage_sinks },
  {
    profile: { identity: sections.identity },
    onEvent: (event, fields) => events.push([event, fields]),
  },
)
beforeAll(() => writeFileSync(lineageFile, ''))
beforeEach(() => {
  airflow.runs.clear()
  airflow.looks.length = 0
  airflow.refusal = undefined
  airflow.refusalOfChange = undefined
  airflow.onTrigger = undefined
})
afterAll(() => {
  airflow.close()
  rmSync(folder, { recursive: true, force: true })
})

const minute_ms = 60_000
const digest = (of: string) => of.repeat(64)
const at = (second: number) => new Date(site().clock.now() + second * 1_000).toISOString().replace('Z', '+00:00')

async function deployLive(person: CheckedClient, dag_id: string) {
  const { uid } = await person.ok(deploy, { dag_id, content: ingestContent(dag_id, 'a.csv') })
  await waitUntilDeployed(person, uid)
  return uid
}

async function runNow(person: CheckedClient, uid: string): Promise<string> {
  return (await person.ok(run, { uid })).dag_run_id
}

const readLineage = (dag_id: string): LineageEvent[] =>
  readFileSync(lineageFile, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
    .filter(({ job }: LineageEvent) => job.name.split('.')[0] === dag_id)

/** What the log has of a watch that ended without the end of its run. */
const findUnwatched = (run: string) =>
  events.find(([event, fields]) => event === 'ingest.run.unwatched' && fields.run === run)?.[1]

const findWatch = async (uid: string, dag_run_id: string) =>
  (await site().store('ingest').get(runWatches, `${uid}.${dag_run_id}`))?.value

/** Lets the time go on to each look at the run, until this holds. */
async function passLooks(uid: string, dag_run_id: string, holds: () => Promise<boolean> | boolean): Promise<void> {
  await waitUntil(async () => {
    if (await holds()) return true
    const watch = await findWatch(uid, dag_run_id)
    if (watch?.job_due_ts !== undefined && watch.job.state !== 'running') {
      site().clock.advance(Math.max(1, watch.job_due_ts + 1 - site().clock.now()))
      site().wakeWorker('ingest', 'jobs')
    }
    return false
  })
}

/** Until the watch is over and removed. */
const passEnd = async (uid: string, dag_run_id: string) =>
  await passLooks(uid, dag_run_id, async () => {
    site().wakeWorker('ingest', 'lineage-events')
    site().wakeWorker('ingest', 'run-metrics')
    return (await findWatch(uid, dag_run_id)) === undefined
  })

const end = (
  dag_run_id: string,
  state: string,
  tasks: NonNullable<Parameters<typeof airflow.runs.set>[1]['tasks']>,
) => {
  const found = airflow.runs.get(dag_run_id)
  if (found) Object.assign(found, { state, tasks, start_date: at(5), end_date: at(65) })
}

const landed = (of: string, rows: number, inputs: readonly object[], rejects = 0) => ({
  lineage: { dataset: `d-${of}`, digest: digest(of), rows_in: rows, rows_out: rows, rejects, bytes: rows * 10, inputs },
})

const listReports = async (uid: string) =>
  (await site().store('ingest').list(failureReports, { limit: 9 })).docs.filter(({ value }) => value.pipeline === uid)

const countRuns = async (state: string) => {
  const { text } = await site().call('ingest', 'GET', '/metrics', undefined, {
    token: await site().token({ roles: ['admin'] }),
  })
  return Number(new RegExp(`^pipeline_run_total\\{[^}]*state="${state}"[^}]*\\} (\\d+)`, 'm').exec(text)?.[1] ?? 0)
}

test('a run is measured by what its tasks left, counted, and inlined by statistics=true', async () => {
  const ann = await site().as()
  const uid = await deployLive(ann, 'measured')
  const before = await countRuns('success')
  const dag_run_id = await runNow(ann, uid)
  await passLooks(uid, dag_run_id, () => airflow.looks.filter((id) => id === dag_run_id).length > 4)
  expect((await ann.ok(metrics, { uid })).items).toEqual([])
  const at_times = { start_date: at(6), end_date: at(60) }
  const file = { name: 'a.csv', bytes: 500, digest: digest('0') }
  end(dag_run_id, 'success', [
    { ...at_times, task_id: 'read', state: 'success', try_number: 2, result: landed('1', 40, [file], 3) },
    {
      ...{ ...at_times, task_id: 'some', state: 'success', try_number: 1 },
      result: landed('2', 30, [{ name: 'd-1', bytes: 400, digest: digest('1') }], 1),
    },
    { task_id: 'by_hand', state: 'success', try_number: 1 },
    { ...at_times, task_id: 'left', state: 'skipped', try_number: 0 },
  ])
  await passEnd(uid, dag_run_id)
  const metric = await waitUntilMeasured(ann, metrics, uid, dag_run_id)
  expect(metric).toMatchObject({
    ...{ run_type: 'manual', state: 'success', rows: 30, bytes: 300, rejects: 4, input_bytes: 500, tries: 4 },
    ...{ tasks: { total: 4, success: 3, failed: 0, skipped: 1 }, duration_s: 60 },
  })
  expect((await ann.ok(get, { uid, statistics: true })).metrics).toEqual([metric])
  expect(await countRuns('success')).toBe(before + 1)
  const events = readLineage('measured')
  expect(events.map(({ eventType, job }) => `${eventType} ${job.name}`)).toEqual([
    ...['START measured', 'START measured.read', 'COMPLETE measured.read'],
    ...['START measured.some', 'COMPLETE measured.some', 'COMPLETE measured'],
  ])
  expect(events[0]?.run.facets.pipeline).toMatchObject({ dag_digest: expect.stringMatching(/^[0-9a-f]{64}$/) })
  expect(events[2]).toMatchObject({
    inputs: [{ name: 'file/a.csv', inputFacets: { inputStatistics: { size: 500 } } }],
    outputs: [{ name: 'dataset/d-1', facets: { rejects: { rows: 3 } } }],
  })
  expect(events[4]?.inputs).toMatchObject([{ name: 'dataset/d-1' }])
})

test('looks begin after ten seconds, become ever more seldom, and are five minutes apart at most', async () => {
  const ann = await site().as()
  const uid = await deployLive(ann, 'long')
  const dag_run_id = await runNow(ann, uid)
  const gaps: number[] = []
  for (let count = 0; count < 30; count += 1) {
    const before = (await findWatch(uid, dag_run_id))?.job_due_ts ?? 0
    gaps.push(before - site().clock.now())
    await passLooks(uid, dag_run_id, async () => {
      const { job, job_due_ts = 0 } = (await findWatch(uid, dag_run_id)) ?? {}
      return job?.state !== 'running' && job_due_ts > before + 1
    })
  }
  expect(gaps[0]).toBe(10_000)
  expect(gaps).toEqual(gaps.toSorted((one, other) => one - other))
  expect(gaps.at(-1)).toBe(5 * minute_ms)
  end(dag_run_id, 'success', [])
  await passEnd(uid, dag_run_id)
  expect((await ann.ok(metrics, { uid })).total).toBe(1)
})

test('a trigger whose answer is lost leads to one run, whose end is seen after a crash', async () => {
  const ann = await site().as()
  const uid = await deployLive(ann, 'lost')
  airflow.onTrigger = (response) => response.destroy()
  await ann.call(run, { uid })
  const [dag_run_id = ''] = airflow.runs.keys()
  expect(dag_run_id).toMatch(/^manual__/)
  await site().restart()
  end(dag_run_id, 'failed', [{ task_id: 'read', state: 'failed', try_number: 3 }])
  await passEnd(uid, dag_run_id)
  expect(await waitUntilMeasured(await site().as(), metrics, uid, dag_run_id)).toMatchObject({
    ...{ state: 'failed', rows: 0, tries: 3, tasks: { total: 1, failed: 1 } },
  })
})

test('a run that never came, or that was deleted at Airflow, ends its watch without a record', async () => {
  const ann = await site().as()
  const uid = await deployLive(ann, 'never')
  airflow.onTrigger = (response) => {
    airflow.runs.clear()
    response.writeHead(409, { 'content-type': 'application/json' }).end('{}')
  }
  const begun = site().clock.now()
  expect(await ann.refusal(run, { uid })).toBe('wrong_state')
  const { docs } = await site().store('ingest').list(runWatches, { limit: 9 })
  const never = docs.find(({ value }) => value.pipeline === uid)?.value.dag_run_id ?? ''
  await passEnd(uid, never)
  expect(site().clock.now() - begun).toBeLessThan(12 * minute_ms)
  airflow.onTrigger = undefined
  const gone = await runNow(ann, uid)
  await passLooks(uid, gone, async () => (await findWatch(uid, gone))?.seen === 'queued')
  airflow.runs.clear()
  // A DAG whose file is read again may be missing for a while.
  await passLooks(uid, gone, async () => (await findWatch(uid, gone))?.missing_since !== undefined)
  await passEnd(uid, gone)
  expect((await ann.ok(metrics, { uid })).items).toEqual([])
})

test('an outage of Airflow delays the end, and loses none', async () => {
  const ann = await site().as()
  const uid = await deployLive(ann, 'away')
  const dag_run_id = await runNow(ann, uid)
  airflow.refusal = 503
  await passLooks(uid, dag_run_id, async () => ((await findWatch(uid, dag_run_id))?.job.failures ?? 0) > 2)
  airflow.refusal = undefined
  end(dag_run_id, 'success', [])
  await passEnd(uid, dag_run_id)
  expect((await ann.ok(metrics, { uid })).items).toMatchObject([{ dag_run_id, state: 'success' }])
})

test.each([401, 403])(
  'a look that Airflow refuses (%i) is repeated for five minutes, and then ends the watch',
  async (status) => {
    const ann = await site().as()
    const uid = await deployLive(ann, `denied-${status}`)
    const passing = await runNow(ann, uid)
    airflow.refusal = status
    await passLooks(uid, passing, async () => (await findWatch(uid, passing))?.missing_since !== undefined)
    airflow.refusal = undefined
    end(passing, 'success', [])
    await passEnd(uid, passing)
    expect((await ann.ok(metrics, { uid })).items).toMatchObject([{ dag_run_id: passing }])
    const denied = await runNow(ann, uid)
    airflow.refusal = status
    const begun = site().clock.now()
    await passEnd(uid, denied)
    expect(site().clock.now() - begun).toBeGreaterThanOrEqual(5 * minute_ms)
    const fields = findUnwatched(`${uid}.${denied}`)
    expect(fields).toMatchObject({ code: 'forbidden', reason: expect.stringContaining('Airflow does not') })
    airflow.refusal = undefined
    expect((await ann.ok(metrics, { uid })).total).toBe(1)
  },
)

test('a principal without rights ends the watch, with the reason in the log', async () => {
  const [ann, eve] = [await site().as(), await site().as({ subject: 'eve' })]
  const admin = await site().as({ subject: 'admin', roles: ['admin'] })
  const uid = await deployLive(ann, 'revoked')
  const dag_run_id = await runNow(eve, uid)
  await admin.ok(revoke, { subject: 'eve', reason: 'left the service' })
  await passEnd(uid, dag_run_id)
  const fields = findUnwatched(`${uid}.${dag_run_id}`)
  expect(fields).toMatchObject({ code: 'forbidden', reason: expect.stringContaining('was revoked') })
  expect((await ann.ok(metrics, { uid })).items).toEqual([])
})

test('a run that the site stops or deletes is measured, and what is left of a deleted pipeline is nothing', async () => {
  const ann = await site().as()
  const uid = await deployLive(ann, 'ended')
  const stopped = await runNow(ann, uid)
  await ann.ok(stop, { uid })
  await passEnd(uid, stopped)
  expect(readLineage('ended').map(({ eventType }) => eventType)).toEqual(['START', 'ABORT'])
  const deleted = await runNow(ann, uid)
  await ann.ok(removeRun, { dag_id: 'ended', dag_run_id: deleted })
  expect((await ann.ok(metrics, { uid })).items.map((each) => [each.dag_run_id, each.state]).toSorted()).toEqual(
    [
      [stopped, 'failed'],
      [deleted, 'failed'],
    ].toSorted(),
  )
  expect(await listReports(uid)).toEqual([])
  const unseen = await runNow(ann, uid)
  airflow.runs.clear()
  await ann.ok(remove, { uid })
  expect(await findWatch(uid, unseen)).toBeUndefined()
  const { docs } = await site()
    .store('ingest')
    .list(runMetrics, { filter: { object: uid }, limit: 9 })
  expect(docs).toEqual([])
  expect(site().loggedErrors).toEqual([])
})

test.each([403, 400])('a run that Airflow refuses to stop, by %i, is not marked as stopped', async (status) => {
  const ann = await site().as()
  const uid = await deployLive(ann, `refused_${status}`)
  const dag_run_id = await runNow(ann, uid)
  airflow.refusalOfChange = status
  await ann.refusal(stop, { uid })
  const watch = await findWatch(uid, dag_run_id)
  expect(watch).toMatchObject({ dag_run_id })
  expect(watch?.is_stopped).toBeUndefined()
})

test('a run whose stop has no answer stays marked as stopped', async () => {
  const ann = await site().as()
  const uid = await deployLive(ann, 'unanswered')
  const dag_run_id = await runNow(ann, uid)
  airflow.refusalOfChange = 503
  await ann.refusal(stop, { uid })
  expect((await findWatch(uid, dag_run_id))?.is_stopped).toBe(true)
})

test('a clock that is set back makes no absence of a run longer', async () => {
  const ann = await site().as()
  const uid = await deployLive(ann, 'absent')
  const dag_run_id = await runNow(ann, uid)
  airflow.runs.clear()
  await passLooks(uid, dag_run_id, async () => (await findWatch(uid, dag_run_id))?.missing_since !== undefined)
  const watch = await findWatch(uid, dag_run_id)
  if (!watch) throw new Error('the watch is over')
  const now_ms = Date.parse(watch.missing_since ?? '') - 86_400_000
  const again = missRun(watch, { now_ms, at: new Date(now_ms).toISOString() })
  const later_ms = now_ms + 5 * minute_ms
  expect(again.over).toBeUndefined()
  expect(missRun(again, { now_ms: later_ms, at: new Date(later_ms).toISOString() }).over).toBe(1)
})

test('a watch that begins again, while those that are over are removed, stays', async () => {
  const ann = await site().as()
  const uid = await deployLive(ann, 'again')
  const dag_run_id = await runNow(ann, uid)
  const store = site().store('ingest')
  const id = `${uid}.${dag_run_id}`
  const change = async (rule: (watch: StoredRunWatch) => StoredRunWatch) =>
    await store.update(runWatches, id, ({ value }) => ({ next: rule(value), answer: undefined }))
  const live = await findWatch(uid, dag_run_id)
  if (!live) throw new Error('there is no watch')
  await change((watch) => endWatch(watch, 'cancelled', live.updated_at))
  const labels = { policy: 'SITE', levels: ['UNCLASSIFIED'] }
  const scope = { caller: serviceCaller('ingest'), labels, if_match: undefined, onRefusal: () => undefined }
  const scoped = scopedStore(store, runWatches, scope)
  const list: typeof scoped.list = async (query) => {
    const page = await scoped.list(query)
    await change((watch) => watchAgain(watch, live))
    return page
  }
  await removeEndedWatches({
    signal: new AbortController().signal,
    store: () => ({ ...scoped, list }),
  } as unknown as Call)
  expect((await findWatch(uid, dag_run_id))?.over).toBeUndefined()
  expect(await findWatch(uid, dag_run_id)).toBeDefined()
})
