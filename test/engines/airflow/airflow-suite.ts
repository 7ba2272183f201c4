// The requirements of workflow schedulers, and what holds for Airflow besides, on one real server for all of them.
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { remove } from '../../../daemon/roles/ingest/datapipeline/remove.ts'
import { run } from '../../../daemon/roles/ingest/datapipeline/run.ts'
import { schedulerRequirements } from '../../conformance/workflow-scheduler.ts'
import { type AirflowGeneration, airflowRequirement } from '../../support/engines/airflow.ts'
import { type AirflowWorld, openAirflowWorld } from '../../support/ingest/airflow-world.ts'
import { deployTasks, waitUntilOver } from '../../support/ingest/scheduler-world.ts'
import { whenPresent } from '../../support/runner/requires.ts'

export function describeAirflow(generation: AirflowGeneration): void {
  const requirement = airflowRequirement(generation)
  const test = whenPresent(requirement)
  describe(`Airflow ${generation}`, () => {
    let world: AirflowWorld
    beforeAll(async () => {
      if (requirement.isPresent) world = await openAirflowWorld(generation)
    })
    afterAll(async () => {
      await world?.end()
      expect(world?.site.loggedErrors ?? []).toEqual([])
    })

    for (const { id, description, verify } of schedulerRequirements)
      test(`${description} (${id})`, async () => await verify(world), 280_000)

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
  })
}
