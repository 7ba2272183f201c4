// Which datasets of runs can be named, by what the role ingest says of a run.
import { expect, test } from 'vitest'
import type { RoleClients } from '../../kernel/operation/operation-contract.ts'
import { findTaskDataset } from './task-dataset.ts'

const named = { dag_id: 'orders', dag_run_id: 'manual__1', task: 'read' }
const classification = { policy: 'demo', level: 'SECRET', originator: 'acme', created: '2026-01-01T00:00:00.000Z' }
const lineage = { dataset: 'pl_1.manual__1.5/read', digest: 'a'.repeat(64) }

async function find(run: object) {
  const roles: RoleClients = { request: async ({ output }) => output.parse(run) }
  return await findTaskDataset({ roles }, named)
}

test('a dataset has the label of its run', async () => {
  const found = await find({ classification, tasks: [{ task_id: 'read', lineage }] })
  expect(found).toMatchObject({ name: lineage.dataset, digest: lineage.digest, label: { level: 'SECRET' } })
})

test.each<[string, object]>([
  ['of a worker of Airflow with a run without a label', { tasks: [{ task_id: 'read', lineage }] }],
  ['of a task that made a file', { classification, tasks: [{ task_id: 'read', lineage: { digest: 'a' } }] }],
  ['of a task that made nothing yet', { classification, tasks: [{ task_id: 'read' }] }],
])('a dataset %s is refused', async (_, run) => {
  expect(await find(run)).toMatchObject({
    code: 'not_found',
    message: expect.stringContaining('no dataset at this site'),
  })
})
