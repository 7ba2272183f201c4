// Schedules of a site with Airflow: ticks of the scheduler DAG alone let them go on, and a tick can do nothing else.
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { deploy } from '../../../daemon/roles/ingest/datapipeline/deploy.ts'
import { get as getSchedule } from '../../../daemon/roles/ingest/datapipeline-schedule/get.ts'
import { pipelineSchedules } from '../../../daemon/roles/ingest/datapipeline-schedule/model.ts'
import { set } from '../../../daemon/roles/ingest/datapipeline-schedule/set.ts'
import { runWatches } from '../../../daemon/roles/ingest/run-watch/model.ts'
import { newest_tick, scheduleTicks } from '../../../daemon/roles/ingest/schedule-tick/model.ts'
import type { CheckedClient } from '../../support/http/checked-client.ts'
import { openScriptedAirflow, scriptedAirflowSections, tickSite } from '../../support/ingest/scripted-airflow.ts'
import { waitUntil } from '../../support/site/test-site.ts'
import { ingestContent, setUpIngestSite, waitUntilDeployed } from './ingest-site.ts'

const airflow = await openScriptedAirflow()
const folder = mkdtempSync(path.join(tmpdir(), 'workers-'))
const sections = scriptedAirflowSections(airflow.base_url, folder)
const events: string[] = []
const site = setUpIngestSite(sections.ingest, {
  profile: { identity: sections.identity },
  onEvent: (event) => events.push(event),
})
beforeEach(() => airflow.runs.clear())
afterAll(() => {
  airflow.close()
  rmSync(folder, { recursive: true, force: true })
})

const minute_ms = 60_000
const ticks = path.join(folder, 'ticks')
const file = path.join(ticks, 'alpha.json')

async function deployLive(person: CheckedClient, dag_id: string, schedule: string) {
  const { uid } = await person.ok(deploy, { dag_id, content: ingestContent(dag_id, 'a.csv'), schedule })
  await waitUntilDeployed(person, uid)
  return uid
}

const readRecord = async (uid: string) => (await site().store('ingest').get(pipelineSchedules, uid))?.value
const readTick = async () => (await site().store('ingest').get(scheduleTicks, newest_tick))?.value
const scheduledRuns = () => [...airflow.runs.keys()].filter((id) => id.startsWith('schedule__'))

function endRuns(): void {
  for (const run of airflow.runs.values()) run.state = 'success'
}

function passTo(instant: string | null | undefined, more_ms = 1): void {
  site().clock.advance(Date.parse(instant ?? '') + more_ms - site().clock.now())
  site().wakeWorker('ingest', 'jobs')
}

/** Waits until the record rests: its step has seen that it waits for a tick. */
const waitForRest = async (uid: string) =>
  await waitUntil(async () => {
    const record = await readRecord(uid)
    return record?.job.state === 'waiting' && record.job_due_ts === undefined
  })

/** Writes a tick, or what is in place of one, and waits until the site has looked. */
async function lookAtTick(write: () => void): Promise<void> {
  write()
  events.length = 0
  site().wakeWorker('ingest', 'schedule-ticks')
}

const tick = (at_ms = site().clock.now()) => lookAtTick(() => tickSite(folder, at_ms))
const waitForTick = async (at_ms: number) =>
  await waitUntil(async () => (await readTick())?.at === new Date(at_ms).toISOString())

async function findHealth(): Promise<{ state: string; detail: string } | undefined> {
  const { json } = await site().call('ingest', 'GET', '/health', undefined, { token: await site().token() })
  return (json as { dependencies?: { name: string; state: string; detail: string }[] }).dependencies?.find(
    ({ name }) => name === 'schedule ticks',
  )
}

/** A finding is reused for a second. */
const waitForHealth = async (state: string, reason = '') =>
  await waitUntil(async () => {
    const health = await findHealth()
    return health?.state === state && health.detail.includes(reason)
  })

test('the clock of the site triggers nothing: the tick does, once, in the name of the owner', async () => {
  const [ann, bob] = [await site().as(), await site().as({ subject: 'bob' })]
  const uid = await deployLive(ann, 'hourly', '@hourly')
  await bob.ok(set, { uid, schedule: '@hourly' })
  const { next_scheduled_run: due } = await ann.ok(getSchedule, { uid })
  passTo(due)
  await waitForRest(uid)
  site().clock.advance(10 * minute_ms)
  expect(scheduledRuns()).toEqual([])
  expect(await ann.ok(getSchedule, { uid })).toMatchObject({ next_scheduled_run: due, status: 'idle' })
  await tick()
  const shown = await waitUntil(async () => {
    const now = await ann.ok(getSchedule, { uid })
    return now.status === 'running' && now
  })
  expect(scheduledRuns()).toEqual([shown.trigger_id])
  const watch = await site().store('ingest').get(runWatches, `${uid}.${shown.trigger_id}`)
  expect(watch?.value).toMatchObject({ created_by: 'bob', job: { principal: { subject: 'bob' } } })
  // The next time is another one, and so is its tick: the file that stays, and a repeated task, are none.
  await ann.ok(set, { uid, schedule: null })
})

test('times that pass without a tick lead to one run, and a tick permits nothing that is due after it', async () => {
  const ann = await site().as()
  const uid = await deployLive(ann, 'missed', '*/30 * * * *')
  site().clock.advance(20 * 60 * minute_ms)
  site().wakeWorker('ingest', 'jobs')
  await waitForRest(uid)
  await tick()
  await waitUntil(async () => (await readRecord(uid))?.status === 'running')
  expect(scheduledRuns()).toHaveLength(1)
  const { next_scheduled_run: next } = await ann.ok(getSchedule, { uid })
  expect(Date.parse(next ?? '')).toBeGreaterThan(site().clock.now())
  endRuns()
  passTo(next)
  await waitForRest(uid)
  // The same file once more.
  site().wakeWorker('ingest', 'schedule-ticks')
  const other = await deployLive(ann, 'other', '@daily')
  await waitUntil(async () => (await readRecord(other))?.job_due_ts !== undefined)
  expect(scheduledRuns()).toHaveLength(1)
  await site().restart()
  site().wakeWorker('ingest', 'schedule-ticks')
  site().wakeWorker('ingest', 'jobs')
  await waitForRest(uid)
  expect(scheduledRuns()).toHaveLength(1)
  await tick()
  await waitUntil(() => scheduledRuns().length === 2)
  const later = await site().as()
  await later.ok(set, { uid, schedule: null })
  await later.ok(set, { uid: other, schedule: null })
})

test('a tick of a clock that is ahead permits a time a minute ahead at most, once the site is there', async () => {
  const ann = await site().as()
  const uid = await deployLive(ann, 'ahead', '*/30 * * * *')
  const { next_scheduled_run: due } = await ann.ok(getSchedule, { uid })
  passTo(due, -30_000)
  const far = Date.parse('9999-12-31T00:00:00.000Z')
  await tick(far)
  await waitForTick(far)
  expect((await readTick())?.until_ts).toBe(site().clock.now() + minute_ms)
  await waitUntil(async () => ((await readRecord(uid))?.ticked_ts ?? 0) >= Date.parse(due ?? ''))
  expect(scheduledRuns()).toEqual([])
  passTo(due)
  await waitUntil(() => scheduledRuns().length === 1)
  const next = await waitUntil(async () => {
    const { next_scheduled_run } = await ann.ok(getSchedule, { uid })
    return next_scheduled_run !== due && next_scheduled_run
  })
  endRuns()
  passTo(next)
  await waitForRest(uid)
  expect(scheduledRuns()).toHaveLength(1)
  await ann.ok(set, { uid, schedule: null })
  // One of the past is as good as any: it says that schedules are evaluated now.
  await tick(0)
  await waitForTick(0)
})

test('a tick of the time before the clock was put back permits nothing, and the next one does', async () => {
  const uid = await deployLive(await site().as(), 'back', '@daily')
  const weeks_ms = 20 * 24 * 60 * minute_ms
  site().clock.advance(weeks_ms)
  await tick()
  await waitUntil(() => scheduledRuns().length === 1)
  await waitUntil(async () => (await readRecord(uid))?.status === 'running')
  endRuns()
  site().clock.advance(-weeks_ms)
  site().wakeWorker('ingest', 'schedule-clock')
  const next = await waitUntil(async () => {
    const record = await readRecord(uid)
    return record?.ticked_ts === undefined && new Date(record?.next_ts ?? 0).toISOString()
  })
  await waitForHealth('degraded', 'the clock was put back')
  passTo(next)
  site().wakeWorker('ingest', 'schedule-ticks')
  await waitForRest(uid)
  expect(scheduledRuns()).toHaveLength(1)
  await tick()
  await waitUntil(() => scheduledRuns().length === 2)
  await (await site().as()).ok(set, { uid, schedule: null })
  await waitForHealth('ok')
})

test.each<[string, () => void, string]>([
  ['a text', () => writeFileSync(file, 'now!'), 'it is not one of this site'],
  [
    'one of another site',
    () => writeFileSync(file, '{"format":1,"site":"bravo","at":"2026-03-02T12:00:00Z"}'),
    'it is not one of this site',
  ],
  [
    'one with more',
    () => writeFileSync(file, '{"format":1,"site":"alpha","at":"2026-03-02T12:00:00Z","run":"x"}'),
    'it is not one of this site',
  ],
  [
    'one before all years',
    () => writeFileSync(file, '{"format":1,"site":"alpha","at":"0000-01-01T00:00:00+23:59"}'),
    'its time is not one of the years 0 to 9999',
  ],
  ['a large file', () => writeFileSync(file, Buffer.alloc(2_000_000, 32)), 'it is too large'],
  ['a link', () => symlinkSync('/etc/passwd', file), 'it is a link'],
  ['a pipe', () => execFileSync('mkfifo', [file]), 'it is not a file'],
  ['a folder', () => mkdirSync(file), 'it is not a file'],
])('%s in place of a tick permits nothing, and is in the health and the log', async (_, write, reason) => {
  site().clock.advance(1)
  await tick()
  await waitForTick(site().clock.now())
  const before = await readTick()
  rmSync(file, { recursive: true })
  await lookAtTick(write)
  await waitUntil(() => events.includes('ingest.schedule.ticks-missing'))
  await waitForHealth('degraded', reason)
  expect(await readTick()).toEqual(before)
  rmSync(file, { recursive: true })
  await tick()
  await waitUntil(() => events.includes('ingest.schedule.ticks'))
  await waitForHealth('ok')
})

test('a link in place of the folder is not followed', async () => {
  const elsewhere = mkdtempSync(path.join(tmpdir(), 'elsewhere-'))
  tickSite(elsewhere, site().clock.now() + 1)
  rmSync(ticks, { recursive: true })
  await lookAtTick(() => symlinkSync(path.join(elsewhere, 'ticks'), ticks))
  await waitUntil(() => events.includes('ingest.schedule.ticks-missing'))
  expect(() => tickSite(folder, 0)).toThrow('ENOTDIR')
  rmSync(ticks)
  rmSync(elsewhere, { recursive: true })
})

test('ticks that are missing for more than two intervals are in the health and the log, until the next one', async () => {
  await tick()
  await waitForTick(site().clock.now())
  site().clock.advance(60 * minute_ms)
  await waitForHealth('ok')
  site().clock.advance(1)
  site().wakeWorker('ingest', 'schedule-ticks')
  await waitUntil(() => events.includes('ingest.schedule.ticks-missing'))
  await waitForHealth('degraded', 'no tick of the scheduler DAG since 2026-')
  expect(await site().call('ingest', 'GET', '/health')).toMatchObject({ json: { status: 'degraded' } })
  // A process that has just begun waits for one, too.
  await site().restart()
  await waitForHealth('ok')
  await tick()
  await waitForTick(site().clock.now())
  expect(site().loggedErrors).toEqual([])
})

test('the scheduler DAG is written at the start, and a tick leaves one file that everybody may read', async () => {
  const dag = path.join(folder, 'platform_scheduler_alpha.py')
  chmodSync(dag, 0o600)
  rmSync(dag)
  await site().restart()
  site().wakeWorker('ingest', 'schedule-ticks')
  const text = await waitUntil(() =>
    readdirSync(folder).includes(path.basename(dag)) ? readFileSync(dag, 'utf8') : false,
  )
  expect(text).toContain('\\"dag_id\\":\\"platform_scheduler__alpha\\",\\"schedule\\":\\"*/30 * * * *\\"')
  expect(text).toContain(`\\"ingest\\",\\"tick\\",\\"alpha\\",\\"--folder\\",\\"${folder}\\"`)
  for (const at of [1, 2, 3]) tickSite(folder, at)
  expect(readdirSync(ticks)).toEqual(['alpha.json'])
})
