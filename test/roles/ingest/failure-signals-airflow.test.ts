// Failed runs of Airflow: the site learns the end of a scheduled one, and raises one signal for it.
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { deploy } from '../../../daemon/roles/ingest/datapipeline/deploy.ts'
import { pipelineSchedules } from '../../../daemon/roles/ingest/datapipeline-schedule/model.ts'
import { failureReports } from '../../../daemon/roles/ingest/failure-report/model.ts'
import { list as listSignals } from '../../../daemon/roles/intelligence/signal/list.ts'
import { waitUntil } from '../../support/site/test-site.ts'
import { openDividedSite } from './divided-site.ts'
import { ingestContent, waitUntilDeployed } from './ingest-site.ts'

/** Runs by their path, each in the state that the test has set. */
const runs = new Map<string, string>()
const airflow = createServer(async (request, response) => {
  const pieces: Buffer[] = []
  for await (const piece of request) pieces.push(piece as Buffer)
  const { pathname } = new URL(request.url ?? '', 'http://airflow')
  const answer = (status: number, body: object) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  }
  if (request.method === 'POST') {
    const { dag_run_id } = JSON.parse(Buffer.concat(pieces).toString())
    runs.set(`${pathname}/${dag_run_id}`, 'running')
  }
  const [, dag_id = '', dag_run_id = ''] = /^\/api\/v2\/dags\/([^/]+)\/dagRuns\/?([^/]*)$/.exec(pathname) ?? []
  const state = runs.get(pathname)
  if (request.method === 'POST') return answer(200, {})
  return state === undefined ? answer(404, {}) : answer(200, { dag_id, dag_run_id, state, conf: {} })
})
const base_url = await new Promise<string>((resolve) => {
  airflow.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${(airflow.address() as AddressInfo).port}`))
})
const folder = mkdtempSync(path.join(tmpdir(), 'dags-'))
beforeEach(() => runs.clear())
afterAll(() => {
  airflow.close().closeAllConnections()
  rmSync(folder, { recursive: true, force: true })
})

const sections = {
  identity: { audiences: { airflow: ['ingest'] } },
  ingest: {
    ...{ workflow_base_url: base_url, workflow_api_version: 'v2' },
    ...{ workflow_dag_folder: folder, worker_folder: folder },
  },
}

/** A pipeline whose first scheduled run is in flight. */
async function openScheduled(dag_id: string) {
  const site = await openDividedSite(['ingest', 'intelligence'], sections)
  await site.start('site', 'ingest')
  const ann = await site.as()
  const { uid } = await ann.ok(deploy, { dag_id, content: ingestContent(dag_id, 'a.csv'), schedule: '0 * * * *' })
  await waitUntilDeployed(ann, uid)
  const readRecord = async () => (await site.store().get(pipelineSchedules, uid))?.value
  /** Lets the time of the service go on to the next step of the record, each time that it rests, until this holds of it. */
  const waitFor = async (holds: (record: Awaited<ReturnType<typeof readRecord>>) => boolean) =>
    await waitUntil(async () => {
      const record = await readRecord()
      if (holds(record)) return true
      const { job_due_ts, job } = record ?? {}
      if (job?.state !== 'running' && job_due_ts !== undefined) {
        site.clock.advance(Math.max(1, job_due_ts + 1 - site.clock.now()))
        site.wake('jobs')
      }
      return false
    })
  await waitFor((record) => record?.status === 'running')
  const listReports = async () => (await site.store().list(failureReports, { limit: 9 })).docs
  const countSignals = async () => (await (await site.as()).ok(listSignals, { subject_id: uid })).items.length
  const end = (state: 'failed' | 'success') => {
    for (const run of runs.keys()) runs.set(run, state)
  }
  return { site, uid, readRecord, waitFor, listReports, countSignals, end }
}

test('a scheduled run that failed raises one signal, also while the role is away and over a crash', async () => {
  const { site, uid, readRecord, waitFor, listReports, countSignals, end } = await openScheduled('failing')
  const first = (await readRecord())?.trigger_id
  end('failed')
  await waitFor((record) => record?.status === 'idle' || record?.trigger_id !== first)
  expect((await listReports()).map(({ id }) => id)).toEqual([`${uid}.${first}`])
  // The next run does not wait for the signal.
  await waitFor((record) => record?.status === 'running' && record.trigger_id !== first)
  await site.stop('site', 'ingest')
  await site.start('site', 'ingest')
  await site.start('intelligence')
  site.wake('failure-signals')
  await waitUntil(async () => (await listReports()).length === 0)
  expect(await countSignals()).toBe(1)
  end('failed')
  await waitFor((record) => record?.status === 'idle')
  await waitUntil(async () => (await listReports()).length === 0)
  expect(await countSignals()).toBe(2)
})

test('a scheduled run that succeeded raises none', async () => {
  const { site, waitFor, listReports, countSignals, end } = await openScheduled('good')
  await site.start('intelligence')
  end('success')
  await waitFor((record) => record?.status === 'idle')
  expect(await listReports()).toEqual([])
  expect(await countSignals()).toBe(0)
})
