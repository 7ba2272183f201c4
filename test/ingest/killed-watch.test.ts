// The process of a site with Airflow dies by SIGKILL between the watch of a run and its trigger: no run is lost, or measured twice.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { deploy } from '../../daemon/roles/ingest/datapipeline/deploy.ts'
import { get } from '../../daemon/roles/ingest/datapipeline/get.ts'
import { metrics } from '../../daemon/roles/ingest/datapipeline/metrics.ts'
import { run } from '../../daemon/roles/ingest/datapipeline/run.ts'
import { airflowFaultPoints } from '../../daemon/roles/ingest/fault-points.ts'
import { ingestContent } from '../roles/ingest/ingest-site.ts'
import { createKilledSite, type KilledSite } from '../support/ingest/killed-site.ts'
import { openScriptedAirflow, scriptedAirflowSections } from '../support/ingest/scripted-airflow.ts'
import { waitUntil } from '../support/site/test-site.ts'

const airflow = await openScriptedAirflow()
const folder = mkdtempSync(path.join(tmpdir(), 'dags-'))
let site: KilledSite
beforeAll(async () => {
  site = await createKilledSite(scriptedAirflowSections(airflow.base_url, folder))
})
afterAll(async () => {
  await site?.end()
  airflow.close()
  rmSync(folder, { recursive: true, force: true })
})

test.each(airflowFaultPoints)('%s', async (point) => {
  const first = await site.start()
  const { uid } = await site.olga.ok(deploy, { dag_id: 'people', content: ingestContent('people', 'a.csv') })
  await waitUntil(async () => (await site.olga.ok(get, { uid })).status === 'active')
  await first.kill()
  const once = { 'idempotency-key': 'one-run' }
  for (let death = 1; death <= 2; death += 1) {
    const doomed = await site.start(point)
    await site.olga.ok(run, { uid }, once).catch((error) => {
      // No answer.
      if (!(error instanceof TypeError)) throw error
    })
    await waitUntil(() => doomed.hasEnded())
    expect(doomed.log().trimEnd().split('\n').at(-1)).toBe(`fault point ${point}`)
    expect([...airflow.runs.keys()]).toEqual([])
  }
  const last = await site.start()
  const { dag_run_id } = await site.olga.ok(run, { uid }, once)
  expect([...airflow.runs.keys()]).toEqual([dag_run_id])
  await last.kill()
  Object.assign(airflow.runs.get(dag_run_id) ?? {}, { state: 'success' })
  await site.start(undefined, 600_000)
  const listMetrics = async () => (await site.olga.ok(metrics, { uid })).items
  await waitUntil(async () => (await listMetrics()).length > 0)
  expect(await listMetrics()).toMatchObject([{ dag_run_id, state: 'success', run_type: 'manual' }])
})
