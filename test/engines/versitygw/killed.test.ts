// A process that reads what is new of a store of objects dies between landing and cursor: no object lands twice, and none is lost.
import { afterAll, beforeAll } from 'vitest'
import type { IngestFaultPoint } from '../../../daemon/roles/ingest/fault-points.ts'
import { type Versitygw, versitygw, versitygwRequirement } from '../../support/engines/versitygw.ts'
import { killReading } from '../../support/ingest/kill-reading.ts'
import { KilledPipeline } from '../../support/ingest/killed-pipelines.ts'
import { createKilledSite, type KilledSite } from '../../support/ingest/killed-site.ts'
import { whenPresent } from '../../support/runner/requires.ts'

const where = whenPresent(versitygwRequirement)
let server: Versitygw
let site: KilledSite
let growing: KilledPipeline

beforeAll(async () => {
  if (!versitygwRequirement.isPresent) return
  server = await versitygw()
  await server.start()
  await server.request('PUT', '/killed')
  site = await createKilledSite()
  const daemon = await site.start()
  const { url: endpoint, region, access_key_id, secret_access_key } = server
  const config = { bucket: 'killed', region, endpoint, access_key_id, path_style: true }
  growing = await KilledPipeline.prepareObjects(
    ...([site, 'growing', config, JSON.stringify({ secret_access_key })] as const),
    async (from, to) => {
      const rows = Array.from({ length: to - from + 1 }, (_, at) => `${from + at},entry ${from + at}`)
      const half = rows.length / 2
      for (const [at, part] of [rows.slice(0, half), rows.slice(half)].entries())
        await server.put('killed', `part-${from}-${at}.csv`, ['id,text', ...part, ''].join('\n'))
    },
  )
  await growing.deploy()
  await growing.waitUntilQuiet()
  await daemon.kill()
})
afterAll(async () => {
  await site?.end()
  await server?.end()
})

const points: readonly IngestFaultPoint[] = ['ingest-landing-named', 'ingest-task-performed', 'ingest-cursor-moved']

where.each(points)('%s', async (point) => {
  await killReading(site, growing, point)
})
