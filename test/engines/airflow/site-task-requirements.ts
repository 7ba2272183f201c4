// Requirements of tasks that the site performs for workers of a real Airflow.
import { readdirSync } from 'node:fs'
import path from 'node:path'
import { expect } from 'vitest'
import { create as createConnection } from '../../../daemon/roles/ingest/connection/create.ts'
import { status as runStatus } from '../../../daemon/roles/ingest/dag-run/status.ts'
import { run } from '../../../daemon/roles/ingest/datapipeline/run.ts'
import { createDatabase } from '../../roles/ingest/ingest-site.ts'
import { deployTasks, waitFor, waitUntilOver } from '../../support/ingest/scheduler-world.ts'
import type { AirflowRequirement } from './connection-requirements.ts'

export const siteTaskRequirements: readonly AirflowRequirement[] = [
  {
    description: 'hands a reading of what is new to the site, goes on with its dataset, and takes no row twice',
    async verify(world) {
      const { person, site, dags } = world
      const admin = await site.as({ roles: ['admin'] })
      const file = path.join(world.files, 'growing.db')
      createDatabase(file, "CREATE TABLE t (id INTEGER, name TEXT); INSERT INTO t VALUES (1, 'Ann'), (2, 'Bob')")
      const given = { name: 'growing', conn_type: 'sqlite', config: { file: 'growing.db' } } as const
      const { uid: connection_id } = await admin.ok(createConnection, given)
      const params = { connection_id, table: 't', cursor_column: 'id' }
      const where = { column: 'id', is: 'at_least', value: 2 }
      const uid = await deployTasks(world, 'growing', [
        { name: 'read', operator: 'ingest_database', params },
        { name: 'some', operator: 'filter', params: { where }, after: ['read'] },
      ])
      const read = async () => {
        const { dag_run_id } = await person.ok(run, { uid })
        expect(await waitUntilOver(world, 'growing', dag_run_id)).toMatchObject({ state: 'success' })
        const { tasks } = await person.ok(runStatus, { dag_id: 'growing', dag_run_id })
        return Object.fromEntries(tasks.map(({ task_id, lineage }) => [task_id, lineage?.rows_out]))
      }
      expect(await read()).toEqual({ read: 2, some: 1 })
      createDatabase(file, "INSERT INTO t VALUES (3, 'Cat')")
      expect(await read()).toEqual({ read: 1, some: 1 })
      const handed = path.join(dags, '../../worker')
      const left = () => ['requests', 'results'].flatMap((name) => readdirSync(path.join(handed, name, site.name)))
      await waitFor(async () => left().length === 0)
    },
  },
]
