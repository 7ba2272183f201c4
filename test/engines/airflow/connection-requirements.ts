// Requirements of connections at Airflow, on a real server.
import path from 'node:path'
import { expect } from 'vitest'
import { create as createConnection } from '../../../daemon/roles/ingest/connection/create.ts'
import { remove as removeConnection } from '../../../daemon/roles/ingest/connection/remove.ts'
import { update as updateConnection } from '../../../daemon/roles/ingest/connection/update.ts'
import { status as runStatus } from '../../../daemon/roles/ingest/dag-run/status.ts'
import { deploy } from '../../../daemon/roles/ingest/datapipeline/deploy.ts'
import { run } from '../../../daemon/roles/ingest/datapipeline/run.ts'
import { createDatabase } from '../../roles/ingest/ingest-site.ts'
import type { AirflowWorld } from '../../support/ingest/airflow-world.ts'
import { deployTasks, waitUntilLive, waitUntilOver } from '../../support/ingest/scheduler-world.ts'
import { pythonDag } from './python-dag.ts'

/** Its task fails without the connection, and with another secret than the one that was set last. */
function readingDag(dag_id: string, connection: string): string {
  const check = `
    import json
    from airflow.hooks.base import BaseHook
    found = BaseHook.get_connection("platform_${connection}")
    assert json.loads(found.password) == {"password": "second"}
    assert json.loads(found.extra)["config"]["account"] == "acme"`
  return pythonDag(dag_id, dag_id).replace('    def greet():', `    def greet():${check.replaceAll('\n', '\n    ')}`)
}

export type AirflowRequirement = {
  readonly description: string
  readonly verify: (world: AirflowWorld) => Promise<void>
}

export const connectionRequirements: readonly AirflowRequirement[] = [
  {
    description: 'has the connections of the site, from which tasks read, until they are deleted',
    async verify(world) {
      const { person, site } = world
      const admin = await site.as({ roles: ['admin'] })
      const stranger = await site.as({ roles: ['admin'], tenant: 'tenant-b', subject: 'eve' })
      const file = 'people.db'
      const statements = "CREATE TABLE people (id INTEGER, name TEXT); INSERT INTO people VALUES (1, 'Ann'), (2, 'Bob')"
      createDatabase(path.join(world.files, file), statements)
      const given = { name: 'people', conn_type: 'sqlite', config: { file } }
      const connection = await admin.ok(createConnection, given)
      expect(connection).toMatchObject({ test: { ok: true }, registration: { ok: true } })
      const table = { connection_id: connection.uid, table: 'people' }
      const uid = await deployTasks(world, 'of_rows', [{ name: 'read', operator: 'ingest_database', params: table }])
      const { dag_run_id } = await person.ok(run, { uid })
      expect(await waitUntilOver(world, 'of_rows', dag_run_id)).toMatchObject({ state: 'success' })
      const { tasks } = await person.ok(runStatus, { dag_id: 'of_rows', dag_run_id })
      expect(tasks).toMatchObject([{ state: 'success', lineage: { rows_out: 2 } }])
      expect(await stranger.refusal(removeConnection, { uid: connection.uid })).toBe('not_your_tenant')
      expect(await admin.refusal(removeConnection, { uid: connection.uid })).toBe('wrong_state')
    },
  },
  {
    description: 'gives the secret of a connection to tasks of DAG files in Python, newest first, and then no more',
    async verify(world) {
      const { person, site } = world
      const admin = await site.as({ roles: ['admin'] })
      const config = { account: 'acme', username: 'reader', database: 'sales' }
      const secret = (password: string) => JSON.stringify({ password })
      const made = await admin.ok(createConnection, {
        ...{ name: 'warehouse', conn_type: 'snowflake', config, secret: secret('first') },
      })
      expect(made).toMatchObject({ test: { ok: false }, registration: { ok: true } })
      const { uid: connection } = made
      expect(await admin.ok(updateConnection, { uid: connection, config, secret: secret('second') })).toMatchObject({
        registration: { ok: true },
      })
      const { uid } = await person.ok(deploy, { dag_id: 'warehouse', content: readingDag('warehouse', connection) })
      await waitUntilLive(world, uid, 'warehouse')
      const states = []
      for (const expected of ['success', 'failed']) {
        const begun = await person.ok(run, { uid })
        states.push((await waitUntilOver(world, 'warehouse', begun.dag_run_id)).state)
        if (expected === 'success') await admin.ok(removeConnection, { uid: connection })
      }
      expect(states).toEqual(['success', 'failed'])
    },
  },
]
