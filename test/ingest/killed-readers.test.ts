// A process that reads what is new of growing sources dies between any two writes of a run: no row is taken twice, and none is lost.
import { afterAll, beforeAll, test } from 'vitest'
import type { IngestFaultPoint } from '../../daemon/roles/ingest/fault-points.ts'
import { killReading } from '../support/ingest/kill-reading.ts'
import { KilledPipeline } from '../support/ingest/killed-pipelines.ts'
import { createKilledSite, type KilledSite } from '../support/ingest/killed-site.ts'

let site: KilledSite
let growing: KilledPipeline
beforeAll(async () => {
  site = await createKilledSite()
  const daemon = await site.start()
  growing = await KilledPipeline.prepare(site, 'growing', true)
  await growing.deploy()
  await growing.waitUntilQuiet()
  await daemon.kill()
})
afterAll(() => site?.end())

const points: readonly IngestFaultPoint[] = [
  ...(['ingest-trigger-stored', 'ingest-cursor-held', 'ingest-task-begun', 'ingest-landing-staged'] as const),
  ...(['ingest-landing-drafted', 'ingest-landing-named', 'ingest-task-performed', 'ingest-cursor-moved'] as const),
  ...(['ingest-task-logged', 'ingest-task-ended', 'ingest-run-ended'] as const),
]

/** Two runs that were requested at once: the process dies in one of them. */
test.each(points)('%s', async (point) => {
  await killReading(site, growing, point)
})
