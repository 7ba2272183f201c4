// The process of pipelines dies by SIGKILL at every named step, and is started again: nothing is lost, done twice or left half done.
import { readdirSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { remove as removeRun } from '../../daemon/roles/ingest/dag-run/remove.ts'
import { deploy } from '../../daemon/roles/ingest/datapipeline/deploy.ts'
import { triggerIdOf } from '../../daemon/roles/ingest/datapipeline-schedule/rules.ts'
import { set as setSchedule } from '../../daemon/roles/ingest/datapipeline-schedule/set.ts'
import {
  airflowFaultPoints,
  type IngestFaultPoint,
  ingestFaultPoints,
  queueFaultPoints,
} from '../../daemon/roles/ingest/fault-points.ts'
import { list as listSignals } from '../../daemon/roles/intelligence/signal/list.ts'
import { judgeSite, KilledPipeline, source_rows } from '../support/ingest/killed-pipelines.ts'
import { createKilledSite, type KilledSite } from '../support/ingest/killed-site.ts'
import { KilledZone } from '../support/ingest/killed-zone.ts'
import { waitUntil } from '../support/site/test-site.ts'

const minute_ms = 60_000

let site: KilledSite
/** Deployed with a first run, and run again; and deployed late without one, then scheduled. */
let busy: KilledPipeline
let scheduled: KilledPipeline
/** Reads what is new. */
let growing: KilledPipeline
let zone: KilledZone
beforeAll(async () => {
  site = await createKilledSite()
  const daemon = await site.start()
  busy = await KilledPipeline.prepare(site, 'busy')
  scheduled = await KilledPipeline.prepare(site, 'scheduled')
  growing = await KilledPipeline.prepare(site, 'growing', true)
  zone = new KilledZone(site, 'carried')
  await daemon.kill()
})
afterAll(() => site?.end())

const deployLate = () => scheduled.deploy({ run_on_deploy: false })
const runBusy = (name: string) => async () => {
  await busy.waitUntilQuiet()
  await busy.trigger(name)
}
/** The clock before the schedule was set, and some time after it. */
let setBetween: readonly number[] = []
/** Its file has died twice: the third start must end it, before the process dies again. */
const endZone = () => zone.judge(source_rows)
const setEachMinute = async () => {
  await scheduled.waitUntilQuiet()
  setBetween = [site.now(), site.now() + minute_ms]
  await site.olga.ok(setSchedule, { uid: scheduled.uid, schedule: '* * * * *' })
}

let failed: { readonly uid: string }
/** A run that fails, since its file is not there. */
const failOnce = async () => {
  const task = { name: 'read', operator: 'ingest_file', params: { file: 'absent.csv' }, retries: 0 }
  const content = JSON.stringify({ format: 1, dag_id: 'failing', tasks: [task] })
  failed = await site.olga.ok(deploy, { dag_id: 'failing', content, run_on_deploy: true })
}

/** `later_ms`: how far the clock of the process is ahead of that of the one before. */
type Death = {
  readonly point: IngestFaultPoint
  readonly act?: () => Promise<unknown>
  readonly later_ms?: number
}

/**
 * Each process begins with the recovery from the death before, which leads to its own point unless it is given what to do. A step
 * dies twice at most: a third death would fail its job.
 */
const deaths: readonly Death[] = [
  { point: 'ingest-deploy-live', act: () => busy.deploy() },
  { point: 'ingest-deploy-triggered' },
  { point: 'ingest-deploy-ended' },
  { point: 'ingest-trigger-principal', act: () => busy.deploy().then(runBusy('first')) },
  { point: 'ingest-trigger-stored', act: runBusy('first') },
  { point: 'ingest-task-begun' },
  { point: 'ingest-landing-staged' },
  { point: 'ingest-task-ended' },
  { point: 'ingest-run-ended' },
  { point: 'ingest-landing-drafted', act: runBusy('second') },
  { point: 'ingest-landing-named' },
  { point: 'ingest-deploy-principal', act: () => busy.waitUntilQuiet().then(deployLate) },
  { point: 'ingest-task-performed', act: runBusy('third') },
  { point: 'ingest-task-logged' },
  { point: 'ingest-deploy-stored', act: () => busy.waitUntilQuiet().then(deployLate) },
  { point: 'ingest-deploy-proposed' },
  { point: 'ingest-deploy-claimed' },
  { point: 'ingest-deploy-published' },
  { point: 'ingest-cursor-held', act: () => growing.deploy() },
  { point: 'ingest-cursor-moved' },
  {
    point: 'ingest-arrival-taken',
    act: () => growing.waitUntilQuiet().then(() => zone.bring('entries.csv', source_rows)),
  },
  { point: 'ingest-arrival-triggered' },
  { point: 'ingest-arrival-finished' },
  { point: 'ingest-failure-reported', act: () => endZone().then(() => failOnce()) },
  { point: 'ingest-schedule-set', act: () => deployLate().then(setEachMinute) },
  { point: 'ingest-schedule-triggering', later_ms: minute_ms },
  { point: 'ingest-schedule-triggered' },
  { point: 'ingest-schedule-ended' },
]

test.each(deaths)('$point', async ({ point, act, later_ms }) => {
  const doomed = await site.start(point, later_ms)
  await act?.().catch((error) => {
    // No answer. A refusal is one.
    if (!(error instanceof TypeError)) throw error
  })
  await waitUntil(() => doomed.hasEnded())
  expect(doomed.log().trimEnd().split('\n').at(-1)).toBe(`fault point ${point}`)
})

test('a process has died at every point that there is', () => {
  // Some need a real queue, test/engines/rabbitmq/killed-queue.test.ts, others Airflow: killed-watch.test.ts.
  const here = deaths.map(({ point }) => point)
  expect([...here, ...queueFaultPoints, ...airflowFaultPoints].toSorted()).toEqual(ingestFaultPoints.toSorted())
})

test('in the end each run that was requested or due is there once, with each row once, and no draft is left', async () => {
  const last = await site.start()
  await busy.waitUntilQuiet()
  await scheduled.waitUntilQuiet()
  await growing.waitUntilQuiet()
  expect(await zone.judge(source_rows)).toHaveLength(1)
  const datasets = await judgeSite(site)
  expect(await busy.judge(datasets)).toHaveLength(4)
  await site.olga.ok(removeRun, { dag_id: 'failing', dag_run_id: 'deploy__1' })
  expect((await site.olga.ok(listSignals, { subject_id: failed.uid })).items).toHaveLength(1)
  expect(await growing.judge(datasets)).toHaveLength(1)
  const ids = (await scheduled.judge(datasets)).toSorted()
  const [from, until] = setBetween.map((time) => triggerIdOf(Math.ceil(time / minute_ms) * minute_ms))
  expect([from, until]).toContain(ids[0])
  await last.kill()
  expect(await busy.countPublications()).toBe(1)
  expect(await scheduled.countPublications()).toBe(1)
  expect(readdirSync(path.join(site.dir, 'data/ingest/datasets')).toSorted()).toEqual(['.drafts', 'acme'])
})
