// Runs the embedded scheduler against each requirement of workflow schedulers; test/engines/airflow runs Airflow against them.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openEmbeddedWorld, type SchedulerWorld } from '../support/ingest/scheduler-world.ts'
import { schedulerRequirements } from './workflow-scheduler.ts'

let world: SchedulerWorld
beforeAll(async () => {
  world = await openEmbeddedWorld()
})
afterAll(async () => {
  await world?.end()
  expect(world?.site.loggedErrors).toEqual([])
})

for (const { id, description, verify } of schedulerRequirements)
  test(`embedded: ${description} (${id})`, async () => await verify(world))
