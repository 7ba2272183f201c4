// Failed runs of Airflow: the site learns the end of each that it triggered, and raises one signal for it.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { deploy } from '../../../daemon/roles/ingest/datapipeline/deploy.ts'
import { run } from '../../../daemon/roles/ingest/datapipeline/run.ts'
import { pipelineSchedules } from '../../../daemon/roles/ingest/datapipeline-schedule/model.ts'
import { set as setSchedule } from '../../../daemon/roles/ingest/datapipeline-schedule/set.ts'
import { failureReports } from '../../../daemon/roles/ingest/failure-report/model.ts'
import { runWatches } from '../../../daemon/roles/ingest/run-watch/model.ts'
import { list as listSignals } from '../../../daemon/roles/intelligence/signal/list.ts'
import { openScriptedAirflow, scriptedAirflowSections, tickSite } from '../../support/ingest/scripted-airflow.ts'
import { waitUntil } from '../../support/site/test-site.ts'
import { openDividedSite } from './divided-site.ts'
import { ingestContent, waitUntilDeployed } from './ingest-site.ts'

const airflow = await openScriptedAirflow()
const folder = mkdtempSync(path.join(tmpdir(), 'dags-'))
beforeEach(() => airflow.runs.clear())
afterAll(() => {
  airflow.close()
  rmSync(folder, { recursive: true, force: true })
})

/** A pipeline whose first scheduled run is in flight. */
async function openScheduled(dag_id: string) {
  const site = await openDividedSite(['ingest', 'intelligence'], scriptedAirflowSections(airflow.base_url, folder))
  await site.start('site', 'ingest')
  const ann = await site.as()
  const { uid } = await ann.ok(deploy, { dag_id, content: ingestContent(dag_id, 'a.csv'), schedule: '0 * * * *' })
  await waitUntilDeployed(ann, uid)
  const readRecord = async () => (await site.store().get(pipelineSchedules, uid))?.value
  /** Lets the time of the service go on to the next step of what rests, until this holds of the record. */
  const waitFor = async (
    holds: (record: Awaited<ReturnType<typeof readRecord>>) => boolean | Promise<boolean>,
  ): Promise<unknown> =>
    await waitUntil(async () => {
      const record = await readRecord()
      if (await holds(record)) return true
      const watches = (await site.store().list(runWatches, { limit: 9 })).docs.map(({ value }) => value)
      const jobs = [...watches, ...(record ? [record] : [])]
      const due = jobs.flatMap(({ job_due_ts = [] }) => job_due_ts)
      if (due.length > 0 && jobs.every(({ job }) => job.state !== 'running')) {
        site.clock.advance(Math.max(1, Math.min(...due) + 1 - site.clock.now()))
        tickSite(folder, site.clock.now())
        site.wake('schedule-ticks')
        site.wake('jobs')
      }
      return false
    })
  await waitFor((record) => record?.status === 'running')
  const listReports = async () => (await site.store().list(failureReports, { limit: 9 })).docs
  const countSignals = async () => (await (await site.as()).ok(listSignals, { subject_id: uid })).items.length
  const end = (state: 'failed' | 'success') => {
    const tasks = [{ task_id: 'read', state, try_number: 2 }]
    for (const run of airflow.runs.values()) Object.assign(run, { state, tasks })
  }
  return { ann, site, uid, readRecord, waitFor, listReports, countSignals, end }
}

test('a scheduled run that failed raises one signal, also while the role is away and over a crash', async () => {
  const { site, uid, readRecord, waitFor, listReports, countSignals, end } = await openScheduled('failing')
  const first = (await readRecord())?.trigger_id
  end('failed')
  await waitFor(async () => (await listReports()).length > 0)
  expect((await listReports()).map(({ id }) => id)).toEqual([expect.stringContaining(`${uid}.${first}.`)])
  // The next run does not wait for the signal.
  await waitFor((record) => record?.status === 'running' && record.trigger_id !== first)
  await site.stop('site', 'ingest')
  await site.start('site', 'ingest')
  await site.start('intelligence')
  site.wake('failure-signals')
  await waitUntil(async () => (await listReports()).length === 0)
  expect(await countSignals()).toBe(1)
  end('failed')
  await waitFor(async () => (await countSignals()) === 2)
  const [signal] = (await (await site.as()).ok(listSignals, { subject_id: uid })).items
  expect(signal?.description).toMatch(/^Run: schedule__.+\nFailed tasks: read \(tries: 2\)\. Their logs say why\.$/)
})

test('a run that a person triggered, or whose schedule was removed, raises one too', async () => {
  const { site, uid, ann, waitFor, countSignals, end } = await openScheduled('by_hand')
  await site.start('intelligence')
  await ann.ok(setSchedule, { uid, schedule: null })
  await ann.ok(run, { uid })
  expect(airflow.runs.size).toBe(2)
  end('failed')
  await waitFor(async () => (await countSignals()) === 2)
})

test('a scheduled run that succeeded raises none', async () => {
  const { site, waitFor, listReports, countSignals, end } = await openScheduled('good')
  await site.start('intelligence')
  end('success')
  await waitFor(async () => (await site.store().list(runWatches, { filter: { over: 1 }, limit: 9 })).docs.length > 0)
  expect(await listReports()).toEqual([])
  expect(await countSignals()).toBe(0)
})
