// Schedules of pipelines at a site: how they are set, what they trigger, in whose name, and what ends them.
import { expect, test } from 'vitest'
import { get as getRun } from '../../../daemon/roles/ingest/dag-run/get.ts'
import { deploy } from '../../../daemon/roles/ingest/datapipeline/deploy.ts'
import { get } from '../../../daemon/roles/ingest/datapipeline/get.ts'
import { remove } from '../../../daemon/roles/ingest/datapipeline/remove.ts'
import { runs } from '../../../daemon/roles/ingest/datapipeline/runs.ts'
import { stop } from '../../../daemon/roles/ingest/datapipeline/stop.ts'
import { update } from '../../../daemon/roles/ingest/datapipeline/update.ts'
import { get as getSchedule } from '../../../daemon/roles/ingest/datapipeline-schedule/get.ts'
import { list } from '../../../daemon/roles/ingest/datapipeline-schedule/list.ts'
import { pipelineSchedules } from '../../../daemon/roles/ingest/datapipeline-schedule/model.ts'
import { set } from '../../../daemon/roles/ingest/datapipeline-schedule/set.ts'
import { dagRuns } from '../../../daemon/roles/ingest/runner/model.ts'
import { revoke } from '../../../daemon/roles/site/token/revoke.ts'
import type { CheckedClient } from '../../support/http/checked-client.ts'
import { waitUntil } from '../../support/site/test-site.ts'
import { ingestContent, setUpIngestSite, waitUntilDeployed, waitUntilRunOver } from './ingest-site.ts'

const site = setUpIngestSite()
const hour_ms = 3_600_000

/** A live pipeline that reads a file of one row. */
async function deployLive(person: CheckedClient, dag_id: string, more: object = {}) {
  site().writeFile(`${dag_id}.csv`, 'a\n1\n')
  const { uid } = await person.ok(deploy, { dag_id, content: ingestContent(dag_id, `${dag_id}.csv`), ...more })
  await waitUntilDeployed(person, uid)
  return uid
}

/** Moves the clock to a time, and wakes what works at times. */
function advanceTo(instant: string | null | undefined, more_ms = 1) {
  const { clock, wakeWorker } = site()
  clock.advance(Date.parse(instant ?? '') + more_ms - clock.now())
  wakeWorker('ingest', 'jobs')
}

/** Moves to the next time of the schedule, and waits until it was handled. */
async function passNextTime(person: CheckedClient, uid: string) {
  const { next_scheduled_run: due } = await person.ok(getSchedule, { uid })
  advanceTo(due)
  return await waitUntil(async () => {
    const shown = await person.ok(getSchedule, { uid })
    return shown.next_scheduled_run !== due && { due, ...shown }
  })
}

const listRunIds = async (person: CheckedClient, uid: string) =>
  (await person.ok(runs, { uid })).items.map(({ dag_run_id }) => dag_run_id)

test('a schedule triggers one run at its time, in the name of its owner, and plans the next', async () => {
  const ann = await site().as()
  const uid = await deployLive(ann, 'hourly', { schedule: '@hourly' })
  const before = await ann.ok(get, { uid })
  expect(before).toMatchObject({ schedule: '@hourly', timezone: 'UTC', last_scheduled_run: null })
  const first = before.next_scheduled_run ?? ''
  expect(Date.parse(first) % hour_ms).toBe(0)
  expect(Date.parse(first)).toBeGreaterThan(site().clock.now())
  const { due, next_scheduled_run, last_scheduled_run, status, owner, trigger_id } = await passNextTime(ann, uid)
  expect(due).toBe(first)
  expect(next_scheduled_run).toBe(new Date(Date.parse(first) + hour_ms).toISOString())
  expect(last_scheduled_run).toBe(new Date(site().clock.now()).toISOString())
  expect({ status, owner }).toEqual({ status: 'running', owner: 'ann' })
  const dag_run_id = `schedule__${first.replace(/[-:]|\.\d+/g, '')}`
  expect(trigger_id).toBe(dag_run_id)
  expect(await waitUntilRunOver(ann, 'hourly', dag_run_id)).toMatchObject({ state: 'success' })
  expect((await site().store('ingest').get(dagRuns, `${uid}.${dag_run_id}`))?.value.created_by).toBe('ann')
  expect(await listRunIds(ann, uid)).toEqual([dag_run_id])
  // The end of the run is seen without another time.
  advanceTo(new Date(site().clock.now()).toISOString(), 300_000)
  await waitUntil(async () => (await ann.ok(getSchedule, { uid })).status === 'idle')
  expect(await ann.ok(get, { uid })).toMatchObject({ workflow_next_run: null })
})

test('times that pass while nothing works lead to one run', async () => {
  const ann = await site().as()
  const uid = await deployLive(ann, 'missed', { schedule: '*/30 * * * *' })
  const { next_scheduled_run: first } = await ann.ok(getSchedule, { uid })
  await site().stop()
  site().clock.advance(30 * hour_ms)
  await site().start()
  site().wakeWorker('ingest', 'jobs')
  const again = await site().as()
  const { trigger_id, next_scheduled_run } = await waitUntil(async () => {
    const shown = await again.ok(getSchedule, { uid })
    return shown.next_scheduled_run !== first && shown
  })
  expect(Date.parse(next_scheduled_run ?? '') - site().clock.now()).toBeLessThanOrEqual(hour_ms / 2)
  expect(await listRunIds(again, uid)).toEqual([trigger_id])
})

test('a run in flight and a paused pipeline leave out a time, with the reason', async () => {
  const ann = await site().as()
  const uid = await deployLive(ann, 'slow', { schedule: '@hourly' })
  const { trigger_id = '' } = await passNextTime(ann, uid)
  await waitUntilRunOver(ann, 'slow', trigger_id)
  await ann.ok(update, { uid, action: 'pause' })
  const paused = await passNextTime(ann, uid)
  expect(paused).toMatchObject({ skipped: { scheduled_for: paused.due, reason: 'the pipeline is paused' }, trigger_id })
  await ann.ok(update, { uid, action: 'unpause' })
  // The run of the time after begins before the pause, and waits until that ends.
  await site()
    .store('ingest')
    .update(dagRuns, `${uid}.${trigger_id}`, ({ value }) => {
      return { next: { ...value, state: 'running' as const }, answer: undefined }
    })
  const inFlight = await passNextTime(ann, uid)
  expect(inFlight).toMatchObject({ status: 'running', trigger_id, last_scheduled_run: paused.last_scheduled_run })
  expect(inFlight.skipped).toEqual({ scheduled_for: inFlight.due, reason: 'the scheduled run before it is in flight' })
  expect(await listRunIds(ann, uid)).toEqual([trigger_id])
  await site()
    .store('ingest')
    .update(dagRuns, `${uid}.${trigger_id}`, ({ value }) => {
      return { next: { ...value, state: 'success' as const }, answer: undefined }
    })
  expect((await passNextTime(ann, uid)).trigger_id).not.toBe(trigger_id)
})

test('a schedule of a pipeline whose DAG was refused leaves out its times', async () => {
  const ann = await site().as()
  const { uid } = await ann.ok(deploy, { dag_id: 'bad', content: ingestContent('other', 'a.csv'), schedule: '@daily' })
  await waitUntilDeployed(ann, uid)
  expect((await passNextTime(ann, uid)).skipped?.reason).toBe('the pipeline is rejected: its DAG is not live')
})

test('schedules are set, changed and ended by three ways, and each change plans anew', async () => {
  const ann = await site().as()
  const uid = await deployLive(ann, 'changed')
  const none = { schedule: null, next_scheduled_run: null, last_scheduled_run: null, owner: null, status: 'idle' }
  expect(await ann.ok(getSchedule, { uid })).toMatchObject(none)
  const daily = await ann.ok(set, { uid, schedule: '0 3 * * *', timezone: 'Europe/Berlin' })
  expect(daily).toMatchObject({ schedule: '0 3 * * *', timezone: 'Europe/Berlin', owner: 'ann' })
  const { version } = await ann.ok(get, { uid })
  const weekly = await ann.ok(update, { uid, schedule: '@weekly' })
  expect(weekly).toMatchObject({ schedule: '@weekly', timezone: 'Europe/Berlin' })
  expect(weekly.version).toBeGreaterThan(version)
  expect(weekly.next_scheduled_run).not.toBe(daily.next_scheduled_run)
  const moved = await ann.ok(update, { uid, timezone: 'UTC' })
  expect(moved).toMatchObject({ schedule: '@weekly', timezone: 'UTC' })
  expect(moved.next_scheduled_run).not.toBe(weekly.next_scheduled_run)
  expect((await ann.ok(update, { uid, description: 'kept' })).next_scheduled_run).toBe(moved.next_scheduled_run)
  expect((await ann.ok(list, {})).items.map((item) => item.uid)).toContain(uid)
  for (const schedule of [null, '', undefined]) {
    await ann.ok(set, { uid, schedule: '@daily' })
    expect(await ann.ok(set, schedule === undefined ? { uid } : { uid, schedule })).toMatchObject(none)
  }
  await ann.ok(set, { uid, schedule: '@daily' })
  expect(await ann.ok(update, { uid, schedule: '' })).toMatchObject({ schedule: null, next_scheduled_run: null })
  expect((await ann.ok(list, {})).items.map((item) => item.uid)).not.toContain(uid)
  expect((await site().store('ingest').get(pipelineSchedules, uid))?.value.job.principal).toBeUndefined()
})

test('a request without a body ends a schedule, by either path', async () => {
  const ann = await site().as()
  const uid = await deployLive(ann, 'bodiless', { schedule: '@daily' })
  for (const prefix of ['/userspace', '/api/v1']) {
    await ann.ok(set, { uid, schedule: '@daily' })
    const at = `${prefix}/datapipeline/${uid}/schedule`
    const { status, json } = await site().call('ingest', 'PUT', at, undefined, { token: ann.token })
    expect([status, json]).toMatchObject([200, { schedule: null, next_scheduled_run: null }])
  }
  const listed = await site().call('ingest', 'GET', '/userspace/datapipeline/schedule?due_only=true', undefined, {
    token: ann.token,
  })
  expect([listed.status, listed.json]).toMatchObject([200, { items: [] }])
})

test.each([
  ['*/10 * * * *', 'less than 30 minutes apart'],
  ['0,10 * * * *', 'less than 30 minutes apart'],
  ['50 23 * * 1,2 ', undefined],
  ['0,50 0,23 * * *', 'less than 30 minutes apart'],
  ['*/30 * * * *', undefined],
  ['* * * * * *', 'less than 30 minutes apart'],
  ['@yearly', 'not a schedule'],
  ['0 0 30 2 *', 'its date never occurs'],
  ['x'.repeat(129), ''],
])('the schedule %s: %s', async (schedule, problem) => {
  const ann = await site().as()
  const uid = await deployLive(ann, 'checked-schedule').catch(() => undefined)
  const pipeline = uid ?? (await findPipeline(ann, 'checked-schedule'))
  if (problem === undefined) return void (await ann.ok(set, { uid: pipeline, schedule }))
  const { status, json } = await site().call(
    'ingest',
    'PUT',
    `/userspace/datapipeline/${pipeline}/schedule`,
    { schedule },
    {
      token: ann.token,
    },
  )
  expect([status, JSON.stringify(json)]).toEqual([422, expect.stringContaining(problem)])
  expect(await ann.refusal(update, { uid: pipeline, schedule, description: 'lost' })).toBe('invalid')
  expect((await ann.ok(get, { uid: pipeline })).description).toBeUndefined()
  const content = ingestContent('never', 'a.csv')
  expect(await ann.refusal(deploy, { dag_id: 'never', content, schedule })).toBe('invalid')
})

async function findPipeline(person: CheckedClient, dag_id: string): Promise<string> {
  const { items } = await person.ok((await import('../../../daemon/roles/ingest/datapipeline/list.ts')).list, {})
  return items.find((each) => each.dag_id === dag_id)?.uid ?? ''
}

test('an unknown time zone is refused', async () => {
  const ann = await site().as()
  const uid = await deployLive(ann, 'zones')
  for (const timezone of ['Mars/Olympus', '+01:00', ''])
    expect(await ann.refusal(set, { uid, schedule: '@daily', timezone })).toBe('invalid')
})

test('a revoked owner: nothing runs, the reason stands, and the next owner begins anew', async () => {
  const [eve, ann] = [await site().as({ subject: 'eve' }), await site().as()]
  const admin = await site().as({ subject: 'admin', roles: ['admin'] })
  const uid = await deployLive(ann, 'revoked')
  await eve.ok(set, { uid, schedule: '@hourly' })
  await admin.ok(revoke, { subject: 'eve', reason: 'left the service' })
  const ended = await passNextTime(ann, uid)
  expect(ended).toMatchObject({
    schedule: '@hourly',
    next_scheduled_run: null,
    last_scheduled_run: null,
    status: 'idle',
  })
  expect(ended.schedule_fault).toMatchObject({ code: 'forbidden', reason: expect.stringContaining('was revoked') })
  expect((await ann.ok(get, { uid })).schedule_fault).toEqual(ended.schedule_fault)
  expect(await listRunIds(ann, uid)).toEqual([])
  const { job } = (await site().store('ingest').get(pipelineSchedules, uid))?.value ?? {}
  expect(job).toMatchObject({ state: 'failed', claims: 1, principal: { subject: 'eve' } })
  expect(job?.principal?.grant).toBeUndefined()
  expect(await ann.ok(set, { uid, schedule: '@hourly' })).not.toHaveProperty('schedule_fault')
  expect(await listRunIds(ann, uid)).toEqual([])
  await passNextTime(ann, uid)
  expect(await listRunIds(ann, uid)).toHaveLength(1)
})

test('who changes what a schedule runs owns it: nobody runs a DAG in the name of another', async () => {
  const [ann, bob] = [await site().as(), await site().as({ subject: 'bob' })]
  const uid = await deployLive(ann, 'taken', { schedule: '@daily' })
  expect((await bob.ok(getSchedule, { uid })).owner).toBe('ann')
  await bob.ok(update, { uid, description: 'by bob' })
  expect((await bob.ok(getSchedule, { uid })).owner).toBe('ann')
  await bob.ok(update, { uid, content: ingestContent('taken', 'other.csv') })
  expect(await bob.ok(getSchedule, { uid })).toMatchObject({ owner: 'bob', schedule: '@daily' })
  await waitUntilDeployed(bob, uid)
})

test('callers without rights, of another tenant or below the label neither set nor see a schedule', async () => {
  const ann = await site().as()
  const uid = await deployLive(ann, 'hidden', { schedule: '@daily', classification: { level: 'SECRET' } })
  const auditor = await site().as({ subject: 'otto', roles: ['auditor'] })
  expect(await auditor.refusal(set, { uid, schedule: '@hourly' })).toBe('forbidden')
  const low = await site().as({ subject: 'low', clearance: { level: 'RESTRICTED' } })
  const other = await site().as({ subject: 'oda', tenant: 'tenant-b' })
  for (const stranger of [low, other]) {
    expect(await stranger.refusal(getSchedule, { uid })).toBe('not_found')
    expect((await stranger.ok(list, {})).items.map((item) => item.uid)).not.toContain(uid)
  }
  expect(await low.refusal(set, { uid })).toBe('not_found')
  expect(await other.refusal(set, { uid })).toBe('not_your_tenant')
  expect(await ann.ok(getSchedule, { uid })).toMatchObject({ schedule: '@daily', owner: 'ann' })
  expect(JSON.stringify(await ann.ok(get, { uid }))).not.toContain('grant')
})

test('a clock that ran weeks ahead keeps no schedule from its times once it is put back', async () => {
  const ann = await site().as()
  const uid = await deployLive(ann, 'ahead', { schedule: '@daily' })
  const { next_scheduled_run: first = '' } = await ann.ok(getSchedule, { uid })
  const weeks_ms = 30 * 24 * hour_ms
  site().clock.advance(weeks_ms)
  site().wakeWorker('ingest', 'jobs')
  const { trigger_id: run } = await waitUntil(async () => {
    const value = (await site().store('ingest').get(pipelineSchedules, uid))?.value
    return value?.status === 'running' && value
  })
  // A run that has not begun waits until the clock is there again, and is in flight for that long.
  await waitUntilRunOver(await site().as(), 'ahead', run ?? '')
  site().clock.advance(-weeks_ms)
  site().wakeWorker('ingest', 'schedule-clock')
  const second = new Date(Date.parse(first ?? '') + 24 * hour_ms).toISOString()
  await waitUntil(async () => (await ann.ok(getSchedule, { uid })).next_scheduled_run === second)
  advanceTo(second)
  const later = await site().as()
  await waitUntil(async () => (await listRunIds(later, uid)).length === 2)
  expect((await later.ok(getSchedule, { uid })).trigger_id).not.toBe(run)
})

test('a time that waited for a tick of another scheduler is triggered', async () => {
  const ann = await site().as()
  const uid = await deployLive(ann, 'waiting', { schedule: '@hourly' })
  // As on a site with Airflow, before its profile was changed.
  await site()
    .store('ingest')
    .update(pipelineSchedules, uid, ({ value }) => ({
      next: { ...value, job: { ...value.job, state: 'waiting' as const }, job_due_ts: undefined },
      answer: undefined,
    }))
  const { next_scheduled_run: due } = await ann.ok(getSchedule, { uid })
  advanceTo(due)
  site().wakeWorker('ingest', 'schedule-ticks')
  const { trigger_id } = await waitUntil(async () => {
    const shown = await ann.ok(getSchedule, { uid })
    return shown.next_scheduled_run !== due && shown
  })
  expect(await listRunIds(ann, uid)).toEqual([trigger_id])
  await ann.ok(set, { uid, schedule: null })
})

test('a deleted pipeline takes its schedule with it', async () => {
  const ann = await site().as()
  const uid = await deployLive(ann, 'gone', { schedule: '@daily' })
  await ann.ok(stop, { uid })
  await ann.ok(remove, { uid })
  expect(await site().store('ingest').get(pipelineSchedules, uid)).toBeUndefined()
  expect(await ann.refusal(getRun, { dag_id: 'gone', dag_run_id: 'x' })).toBe('not_found')
  expect(site().loggedErrors).toEqual([])
})
