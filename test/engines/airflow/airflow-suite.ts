// The requirements of workflow schedulers, and what holds for Airflow besides, on one real server for all of them.
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { list as dagList } from '../../../daemon/roles/ingest/dag/list.ts'
import { trigger } from '../../../daemon/roles/ingest/dag-run/trigger.ts'
import { deploy } from '../../../daemon/roles/ingest/datapipeline/deploy.ts'
import { get } from '../../../daemon/roles/ingest/datapipeline/get.ts'
import { remove } from '../../../daemon/roles/ingest/datapipeline/remove.ts'
import { run } from '../../../daemon/roles/ingest/datapipeline/run.ts'
import { runs } from '../../../daemon/roles/ingest/datapipeline/runs.ts'
import { update } from '../../../daemon/roles/ingest/datapipeline/update.ts'
import { schedulerRequirements } from '../../conformance/workflow-scheduler.ts'
import { type AirflowGeneration, airflowRequirement } from '../../support/engines/airflow.ts'
import { type AirflowWorld, openAirflowWorld } from '../../support/ingest/airflow-world.ts'
import { deployTasks, waitFor, waitUntilLive, waitUntilOver } from '../../support/ingest/scheduler-world.ts'
import { whenPresent } from '../../support/runner/requires.ts'
import { connectionRequirements } from './connection-requirements.ts'
import { pythonDag } from './python-dag.ts'
import { scheduleRequirements } from './schedule-requirements.ts'
import { siteTaskRequirements } from './site-task-requirements.ts'

export function describeAirflow(generation: AirflowGeneration): void {
  const requirement = airflowRequirement(generation)
  const test = whenPresent(requirement)
  describe(`Airflow ${generation}`, () => {
    let world: AirflowWorld
    /** Of schedules: they wait for the clock while the others run. */
    let verified: Promise<readonly PromiseSettledResult<void>[]>
    beforeAll(async () => {
      if (!requirement.isPresent) return
      world = await openAirflowWorld(generation)
      verified = Promise.allSettled(scheduleRequirements.map(({ verify }) => verify(world)))
    })
    afterAll(async () => {
      await verified
      await world?.end()
      expect(world?.site.loggedErrors ?? []).toEqual([])
    })

    for (const { id, description, verify } of schedulerRequirements)
      test(`${description} (${id})`, async () => await verify(world), 280_000)

    test('runs no pinned code, since it has the live file alone', async () => {
      const { person } = world
      world.writeFile('people.csv', 'id,name\n1,Ann\n')
      const tasks = [{ name: 'read', operator: 'ingest_file', params: { file: 'people.csv' } }]
      const uid = await deployTasks(world, 'pinned', tasks)
      const { dag_run_id } = await person.ok(run, { uid })
      const { status, problem } = await person.call(run, { uid, repeats: { dag_run_id, code: 'pinned' } })
      expect([status, problem?.errors]).toMatchObject([422, [{ path: 'repeats.code' }]])
      expect(await person.ok(runs, { uid })).toMatchObject({ items: [{ dag_run_id }], total: 1 })
    }, 280_000)

    test('runs a DAG file in Python, under a name that is of its pipeline alone', async () => {
      const { person, stranger } = world
      const { uid } = await person.ok(deploy, { dag_id: 'by_hand', content: pythonDag('by_hand', 'first') })
      await waitUntilLive(world, uid, 'by_hand')
      const begun = await person.ok(run, { uid })
      expect(await waitUntilOver(world, 'by_hand', begun.dag_run_id)).toMatchObject({ state: 'success' })
      expect(await stranger.refusal(trigger, { dag_id: 'by_hand' })).toBe('not_found')
      await person.ok(update, { uid, content: pythonDag('by_hand', 'second') })
      await waitUntilLive(world, uid, 'by_hand')
      const other = await person.ok(deploy, { dag_id: 'misnamed', content: pythonDag('another', 'third') })
      await waitFor(async () => (await person.ok(get, { uid: other.uid })).status === 'active')
      await person.ok(remove, { uid })
      const { items } = await person.ok(dagList, {})
      expect(items.map(({ dag_id }) => dag_id)).not.toEqual(expect.arrayContaining(['another']))
      expect(await person.refusal(run, { uid: other.uid })).toBe('not_found')
    }, 280_000)

    for (const { description, verify } of [...connectionRequirements, ...siteTaskRequirements])
      test(description, async () => await verify(world), 280_000)

    test('runs a text of a DAG that is code of Python or of Jinja as a text', async () => {
      const { person, site, dags } = world
      const name = `x"); open("${site.folder.data}/owned", "w") #{{ 1 + 1 }}.csv`
      world.writeFile('harmless.csv', 'a\n1\n')
      const tasks = [{ name: 'read', operator: 'ingest_file', params: { file: name } }]
      const uid = await deployTasks(world, 'hostile', tasks)
      const { dag_run_id } = await person.ok(run, { uid })
      expect(await waitUntilOver(world, 'hostile', dag_run_id)).toMatchObject({ state: 'failed' })
      expect(readdirSync(site.folder.data)).not.toContain('owned')
      expect(readFileSync(path.join(dags, `platform_${uid}.py`), 'utf8')).toContain('{{ 1 + 1 }}')
      await person.ok(remove, { uid })
      expect(readdirSync(dags)).not.toContain(`platform_${uid}.py`)
    }, 280_000)

    for (const [index, { description }] of scheduleRequirements.entries())
      test(description, async () => expect((await verified)[index]).toEqual({ status: 'fulfilled' }), 280_000)
  })
}
