// A dataset that a worker of Airflow made goes to a peer, sent by the site at the request of the worker.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { foldersOf } from '../../../adapters/transport/filedrop/files/channel-folders.ts'
import { deploy } from '../../../daemon/roles/ingest/datapipeline/deploy.ts'
import { run } from '../../../daemon/roles/ingest/datapipeline/run.ts'
import { simulatedClock } from '../../support/clock/simulated-clock.ts'
import { openScriptedAirflow, scriptedAirflowSections } from '../../support/ingest/scripted-airflow.ts'
import { performRun } from '../../support/ingest/scripted-worker.ts'
import { pinPeerKeys } from '../../support/site/pinned-site-pair.ts'
import { createTestSite, type TestSite, waitUntil } from '../../support/site/test-site.ts'
import { waitUntilDeployed } from './ingest-site.ts'

const folder = mkdtempSync(path.join(tmpdir(), 'sent-by-workers-'))
const airflow = await openScriptedAirflow()
let alpha: TestSite
let bravo: TestSite

beforeAll(async () => {
  const clock = simulatedClock()
  const { identity, ingest } = scriptedAirflowSections(airflow.base_url, folder)
  const sections = { platform: { roles: ['site', 'ingest'] }, identity }
  const create = (name: string, own: object) =>
    createTestSite({
      ...{ name, tenant: `tenant-${name}`, clock },
      profile: { ...sections, ingest: { port: 0, data_folder: folder, ...own } },
    })
  ;[alpha, bravo] = await Promise.all([create('alpha', ingest), create('bravo', {})])
  await pinPeerKeys(alpha, bravo)
  await alpha.start()
})
afterAll(async () => {
  await Promise.all([alpha.end(), bravo.end()])
  airflow.close()
  rmSync(folder, { recursive: true, force: true })
})

test('its rows are in a message of the channel', async () => {
  mkdirSync(path.join(folder, alpha.tenant))
  writeFileSync(path.join(folder, alpha.tenant, 'orders.csv'), 'id,name\n1,Ann\n2,Bob\n')
  const olga = await alpha.as({ subject: 'olga', roles: ['operator'] })
  const tasks = [
    { name: 'read', operator: 'ingest_file', params: { file: 'orders.csv' } },
    { name: 'send', operator: 'filedrop_send', params: { peer: 'bravo', dataset: 'orders' }, after: ['read'] },
  ]
  const content = JSON.stringify({ format: 1, dag_id: 'sends', tasks })
  const classification = { level: 'UNCLASSIFIED', releasable_to: ['tenant-alpha', 'tenant-bravo'] }
  const { uid } = await olga.ok(deploy, { dag_id: 'sends', content, classification })
  expect(await waitUntilDeployed(olga, uid)).toMatchObject({ status: 'active' })
  const { dag_run_id } = await olga.ok(run, { uid })
  const performed = performRun(airflow, { dags: folder, folder, dataFolder: folder }, { uid, dag_run_id })
  const { ready } = foldersOf(alpha.folder.filedrop, 'bravo')
  const body = await waitUntil(() => {
    alpha.wakeWorker('ingest', 'site-tasks')
    return readdirSync(ready).find((file) => file.endsWith('.body.json'))
  })
  await waitUntil(() => {
    alpha.wakeWorker('ingest', 'site-tasks')
    return airflow.runs.get(dag_run_id)?.state === 'success'
  })
  expect((await performed)[1]).toMatchObject({ requested: { role: 'site', object: 'sent_dataset' } })
  expect(readFileSync(path.join(ready, body), 'utf8')).toContain('["1","Ann"]')
})
