// The process of a site with Airflow dies by SIGKILL: no run is lost, triggered or measured twice, and no task of a worker is lost.
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { deploy } from '../../daemon/roles/ingest/datapipeline/deploy.ts'
import { get } from '../../daemon/roles/ingest/datapipeline/get.ts'
import { metrics } from '../../daemon/roles/ingest/datapipeline/metrics.ts'
import { run } from '../../daemon/roles/ingest/datapipeline/run.ts'
import { get as getSchedule } from '../../daemon/roles/ingest/datapipeline-schedule/get.ts'
import { set as setSchedule } from '../../daemon/roles/ingest/datapipeline-schedule/set.ts'
import { airflowFaultPoints, type IngestFaultPoint } from '../../daemon/roles/ingest/fault-points.ts'
import { ingestContent } from '../roles/ingest/ingest-site.ts'
import { createKilledSite, type KilledSite } from '../support/ingest/killed-site.ts'
import { openScriptedAirflow, scriptedAirflowSections, tickSite } from '../support/ingest/scripted-airflow.ts'
import { performAt } from '../support/ingest/scripted-worker.ts'
import { waitUntil } from '../support/site/test-site.ts'

const airflow = await openScriptedAirflow()
const source = createServer((_request, response) => response.end('id\n1\n2\n'))
await new Promise<void>((resolve) => source.listen(0, '127.0.0.1', resolve))
const folder = mkdtempSync(path.join(tmpdir(), 'dags-'))
let site: KilledSite
beforeAll(async () => {
  const { ingest, ...others } = scriptedAirflowSections(airflow.base_url, folder)
  const url = `http://127.0.0.1:${(source.address() as AddressInfo).port}`
  const reading = { trusted_networks: ['127.0.0.1'], http_sources: [{ name: 'files', url }] }
  site = await createKilledSite({ ...others, ingest: { ...ingest, ...reading } })
})
afterAll(async () => {
  await site?.end()
  airflow.close()
  source.close()
  rmSync(folder, { recursive: true, force: true })
})

beforeEach(() => airflow.runs.clear())

async function deployPeople(dag_id: string, more: Readonly<Record<string, unknown>> = {}): Promise<string> {
  const first = await site.start()
  const { uid } = await site.olga.ok(deploy, { dag_id, content: ingestContent(dag_id, 'a.csv', more) })
  await waitUntil(async () => (await site.olga.ok(get, { uid })).status === 'active')
  await first.kill()
  return uid
}

/** The process that ends at the point: twice at most, since a third death would fail the job. */
async function die(point: IngestFaultPoint, act: () => Promise<unknown>, later_ms?: number): Promise<void> {
  const doomed = await site.start(point, later_ms)
  await act().catch((error) => {
    // No answer.
    if (!(error instanceof TypeError)) throw error
  })
  await waitUntil(() => doomed.hasEnded())
  expect(doomed.log().trimEnd().split('\n').at(-1)).toBe(`fault point ${point}`)
}

const deaths: Readonly<Record<(typeof airflowFaultPoints)[number], () => Promise<void>>> = {
  async 'ingest-run-watched'() {
    const uid = await deployPeople('people')
    const once = { 'idempotency-key': 'one-run' }
    for (const _ of ['first', 'second'])
      await die('ingest-run-watched', async () => await site.olga.ok(run, { uid }, once))
    expect([...airflow.runs.keys()]).toEqual([])
    const last = await site.start()
    const { dag_run_id } = await site.olga.ok(run, { uid }, once)
    expect([...airflow.runs.keys()]).toEqual([dag_run_id])
    await last.kill()
    Object.assign(airflow.runs.get(dag_run_id) ?? {}, { state: 'success' })
    const next = await site.start(undefined, 600_000)
    const listMetrics = async () => (await site.olga.ok(metrics, { uid })).items
    await waitUntil(async () => (await listMetrics()).length > 0)
    expect(await listMetrics()).toMatchObject([{ dag_run_id, state: 'success', run_type: 'manual' }])
    await next.kill()
  },

  async 'ingest-schedule-ticked'() {
    const uid = await deployPeople('hourly')
    const setting = await site.start()
    const { next_scheduled_run: due } = await site.olga.ok(setSchedule, { uid, schedule: '@hourly' })
    await setting.kill()
    const later_ms = Date.parse(due ?? '') - site.now() + 1_000
    await die('ingest-schedule-ticked', async () => tickSite(folder, site.now()), later_ms)
    expect([...airflow.runs.keys()]).toEqual([])
    const last = await site.start()
    await waitUntil(() => airflow.runs.size > 0)
    const shown = await waitUntil(async () => {
      const now = await site.olga.ok(getSchedule, { uid })
      return now.next_scheduled_run !== due && now
    })
    expect([...airflow.runs.keys()]).toEqual([shown.trigger_id])
    expect(shown.owner).toBe('olga')
    await last.kill()
  },

  async 'ingest-site-task-taken'() {
    const params = { source: 'files', path: 'a.csv' }
    const uid = await deployPeople('handed', { operator: 'ingest_http', params })
    const first = await site.start()
    const { dag_run_id } = await site.olga.ok(run, { uid })
    await first.kill()
    const handed = performAt({ dags: folder, folder }, { uid, dag_run_id, task: 'read' })
    // The document that is stored before the death is found by the next process.
    await die('ingest-site-task-taken', async () => undefined)
    const last = await site.start()
    expect(await handed).toMatchObject({ state: 'success', dataset: { rows: 2 } })
    await last.kill()
  },
}

test.each(airflowFaultPoints)('%s', async (point) => await deaths[point]())
