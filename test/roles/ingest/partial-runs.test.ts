// Parts of runs of Airflow that a site still has once its profile names Airflow no longer: the embedded scheduler shows none of them.
import { expect, test } from 'vitest'
import { newJob } from '../../../daemon/kernel/job/rules.ts'
import { status as runStatus } from '../../../daemon/roles/ingest/dag-run/status.ts'
import { deploy } from '../../../daemon/roles/ingest/datapipeline/deploy.ts'
import { remove } from '../../../daemon/roles/ingest/datapipeline/remove.ts'
import { run } from '../../../daemon/roles/ingest/datapipeline/run.ts'
import { runs } from '../../../daemon/roles/ingest/datapipeline/runs.ts'
import { runWatches } from '../../../daemon/roles/ingest/run-watch/model.ts'
import { dagRuns } from '../../../daemon/roles/ingest/runner/model.ts'
import { waitUntil } from '../../support/site/test-site.ts'
import { ingestContent, setUpIngestSite, waitUntilDeployed, waitUntilRunOver } from './ingest-site.ts'

const site = setUpIngestSite()

test('the part of a run at Airflow is not shown, holds up nothing, and ends with the watch', async () => {
  const ann = await site().as()
  site().writeFile('people.csv', 'id\n1\n')
  const { uid } = await ann.ok(deploy, { dag_id: 'people', content: ingestContent('people', 'people.csv') })
  await waitUntilDeployed(ann, uid)
  const { dag_run_id } = await ann.ok(run, { uid })
  await waitUntilRunOver(ann, 'people', dag_run_id)
  const store = site().store('ingest')
  const whole = (await store.get(dagRuns, `${uid}.${dag_run_id}`))?.value
  if (!whole) throw new Error('the run is missing')
  const begun = { state: 'running' as const, part_of: 'airflow' as const, ended_at: undefined }
  const partOf = async (name: string) => {
    const { unmeasured: _measured, unreported: _reported, ...of } = { ...whole, ...begun, dag_run_id: name }
    await store.create(dagRuns, `${uid}.${name}`, { ...of, ...newJob(undefined, undefined) })
  }
  await partOf('at_airflow')
  const { tenant_id, label, created_by, created_at: at, pipeline, dag_id } = whole
  await store.create(runWatches, `${uid}.at_airflow`, {
    ...{ tenant_id, label, created_by, created_at: at, updated_at: at, pipeline, dag_id, dag_run_id: 'at_airflow' },
    ...{ triggered_at: at, ...newJob(undefined, site().clock.now()) },
  })
  expect((await ann.ok(runs, { uid })).items.map((each) => each.dag_run_id)).toEqual([dag_run_id])
  expect(await ann.refusal(runStatus, { dag_id: 'people', dag_run_id: 'at_airflow' })).toBe('not_found')
  await waitUntil(async () => {
    site().clock.advance(60_000)
    for (const name of ['jobs', 'run-metrics']) site().wakeWorker('ingest', name)
    return (await store.get(runWatches, `${uid}.at_airflow`)) === undefined
  })
  expect(await store.get(dagRuns, `${uid}.at_airflow`)).toBeUndefined()
  await partOf('left')
  expect(await ann.ok(remove, { uid })).toEqual({ deleted: true })
  expect(await store.get(dagRuns, `${uid}.left`)).toBeUndefined()
})
