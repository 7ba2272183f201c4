// Schedules of effects: the scheduler of pipelines triggers their runs, in the name of the owner and under the label of now.
import { expect, test } from 'vitest'
import { list as listSchedules } from '../../../daemon/roles/ingest/datapipeline-schedule/list.ts'
import { pipelineSchedules } from '../../../daemon/roles/ingest/datapipeline-schedule/model.ts'
import { set } from '../../../daemon/roles/ingest/datapipeline-schedule/set.ts'
import { create } from '../../../daemon/roles/ingest/effect/create.ts'
import { get } from '../../../daemon/roles/ingest/effect/get.ts'
import { metrics } from '../../../daemon/roles/ingest/effect/metrics.ts'
import { remove } from '../../../daemon/roles/ingest/effect/remove.ts'
import { runs } from '../../../daemon/roles/ingest/effect/runs.ts'
import { update } from '../../../daemon/roles/ingest/effect/update.ts'
import { dagRuns } from '../../../daemon/roles/ingest/runner/model.ts'
import type { CheckedClient } from '../../support/http/checked-client.ts'
import { waitUntil } from '../../support/site/test-site.ts'
import { setUpIngestSite, waitUntilEffectDeployed, waitUntilMeasured } from './ingest-site.ts'

const site = setUpIngestSite()
const operators = [{ name: 'ingest_file', params: { file: 'a.csv' } }]

async function createLive(person: CheckedClient, more: object = {}) {
  site().writeFile('a.csv', 'a\n1\n')
  const { uid } = await person.ok(create, { name: 'an effect', operators, ...more })
  await waitUntilEffectDeployed(person, uid)
  return uid
}

const readRecord = async (uid: string) => (await site().store('ingest').get(pipelineSchedules, uid))?.value

/** Moves to the next time of the schedule, and waits until it was handled. */
async function passNextTime(uid: string) {
  const due = (await readRecord(uid))?.next_ts ?? Number.NaN
  site().clock.advance(due + 1 - site().clock.now())
  site().wakeWorker('ingest', 'jobs')
  return await waitUntil(async () => {
    const record = await readRecord(uid)
    return record?.next_ts !== due && record
  })
}

test('a time of the schedule triggers one run, in the name of the owner, whose metrics say so', async () => {
  const ann = await site().as()
  const uid = await createLive(ann, { schedule: '0 3 * * *', timezone: 'Europe/Berlin' })
  const shown = await ann.ok(get, { uid })
  expect(shown).toMatchObject({ schedule: '0 3 * * *', timezone: 'Europe/Berlin', last_scheduled_run: null })
  expect(await readRecord(uid)).toMatchObject({ object: 'effect', status: 'idle', dag_id: shown.dag_id })
  const { trigger_id = '' } = (await passNextTime(uid)) ?? {}
  const dag_run_id = `schedule__${(shown.next_scheduled_run ?? '').replace(/[-:]|\.\d+/g, '')}`
  expect(trigger_id).toBe(dag_run_id)
  expect(await waitUntilMeasured(ann, metrics, uid, trigger_id)).toMatchObject({
    ...{ run_type: 'scheduled', state: 'success', rows: 1 },
  })
  expect((await site().store('ingest').get(dagRuns, `${uid}.${trigger_id}`))?.value.created_by).toBe('ann')
  expect((await ann.ok(runs, { uid })).items).toHaveLength(1)
  const after = await ann.ok(get, { uid })
  expect(after.last_scheduled_run).toBe(new Date(site().clock.now()).toISOString())
  expect(after.workflow_next_run).toBeNull()
})

test('a paused effect leaves out a time, with the reason', async () => {
  const ann = await site().as()
  const uid = await createLive(ann, { schedule: '@hourly' })
  await ann.ok(update, { uid, action: 'pause' })
  expect((await passNextTime(uid))?.skipped?.reason).toBe('the effect is paused')
  expect((await ann.ok(runs, { uid })).items).toEqual([])
})

test('who changes the operators of a scheduled effect owns the schedule, and who describes it does not', async () => {
  const [ann, bob] = [await site().as(), await site().as({ subject: 'bob' })]
  const uid = await createLive(ann, { schedule: '@daily' })
  await bob.ok(update, { uid, description: 'by bob' })
  expect((await readRecord(uid))?.job.principal?.subject).toBe('ann')
  await bob.ok(update, { uid, operators: [{ name: 'ingest_file', params: { file: 'b.csv' } }] })
  expect(await readRecord(uid)).toMatchObject({ schedule: '@daily', job: { principal: { subject: 'bob' } } })
})

test('a raised label holds for the schedule, whose owner has no further runs of what it may not see', async () => {
  const ann = await site().as()
  const low = await site().as({ subject: 'low', clearance: { level: 'RESTRICTED' } })
  const uid = await createLive(low, { schedule: '@hourly', visibility: 'RESTRICTED' })
  expect(await ann.refusal(update, { uid, schedule: '@weekly', visibility: 'UNCLASSIFIED' })).toBe('label_denied')
  expect((await readRecord(uid))?.schedule).toBe('@hourly')
  await ann.ok(update, { uid, visibility: 'SECRET' })
  expect((await readRecord(uid))?.label).toMatchObject({ level: 'SECRET' })
  const ended = await passNextTime(uid)
  expect(ended).toMatchObject({ status: 'idle', fault: { code: 'forbidden' } })
  expect((await ann.ok(runs, { uid })).items).toEqual([])
  expect((await ann.ok(get, { uid })).schedule_fault?.code).toBe('forbidden')
})

test('schedules of effects are in no list of pipelines, and a deleted effect takes its own with it', async () => {
  const ann = await site().as()
  const uid = await createLive(ann, { schedule: '@daily' })
  expect((await ann.ok(listSchedules, { limit: 500 })).items.map((each) => each.uid)).not.toContain(uid)
  expect(await ann.refusal(set, { uid, schedule: '@hourly' })).toBe('not_found')
  const analyst = await site().as({ subject: 'al', roles: ['auditor'] })
  expect(await analyst.refusal(update, { uid, schedule: '@hourly' })).toBe('forbidden')
  await ann.ok(remove, { uid, confirm: true })
  expect(await readRecord(uid)).toBeUndefined()
  expect(site().loggedErrors).toEqual([])
})
