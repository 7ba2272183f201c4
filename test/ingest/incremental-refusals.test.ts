// Tasks that read what is new are refused where Airflow runs them, with the reason, before anything reaches Airflow.
import { tmpdir } from 'node:os'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { create } from '../../daemon/roles/ingest/connection/create.ts'
import { deploy } from '../../daemon/roles/ingest/datapipeline/deploy.ts'
import { waitUntilDeployed } from '../roles/ingest/ingest-site.ts'
import { startTestSite, type TestSite } from '../support/site/test-site.ts'

let site: TestSite
beforeAll(async () => {
  site = await startTestSite({
    profile: {
      platform: { roles: ['site', 'ingest'] },
      identity: { audiences: { airflow: ['ingest'] } },
      ingest: {
        ...{ port: 0, workflow_base_url: 'http://127.0.0.1:9', workflow_api_version: 'v2', workflow_timeout_s: 1 },
        ...{ workflow_dag_folder: tmpdir(), worker_command: '/usr/bin/false', worker_folder: tmpdir() },
      },
    },
  })
})
afterAll(() => site?.end())

test.each([
  ['rows', { table: 't', cursor_column: 'id' }],
  ['files', { only_new: true }],
])('%s', async (dag_id, params) => {
  const ann = await site.as({ roles: ['admin'] })
  const config = dag_id === 'rows' ? { file: 'none.db' } : { path: 'none' }
  const conn_type = dag_id === 'rows' ? 'sqlite' : 'parquet'
  const { uid: connection_id } = await ann.ok(create, { name: dag_id, conn_type, config })
  const task = { name: 'read', operator: 'ingest_database', params: { connection_id, ...params } }
  const { uid } = await ann.ok(deploy, { dag_id, content: JSON.stringify({ format: 1, dag_id, tasks: [task] }) })
  const { status, fault } = await waitUntilDeployed(ann, uid)
  expect([status, fault?.reason]).toEqual(['rejected', expect.stringContaining('which Airflow cannot')])
})
