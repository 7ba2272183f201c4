// Ends the process of a site at a step of one of two runs that were requested at once, and judges what has landed after the next start.
import { expect } from 'vitest'
import type { IngestFaultPoint } from '../../../daemon/roles/ingest/fault-points.ts'
import { waitUntil } from '../site/test-site.ts'
import { judgeSite, type KilledPipeline } from './killed-pipelines.ts'
import type { KilledSite } from './killed-site.ts'

/** `growing`: a pipeline that reads what is new. */
export async function killReading(site: KilledSite, growing: KilledPipeline, point: IngestFaultPoint): Promise<void> {
  const doomed = await site.start(point)
  await growing.grow()
  for (const name of ['one', 'two'])
    await growing.trigger(`${point}-${name}`).catch((error) => {
      // No answer. A refusal is one.
      if (!(error instanceof TypeError)) throw error
    })
  await waitUntil(() => doomed.hasEnded())
  expect(doomed.log().trimEnd().split('\n').at(-1)).toBe(`fault point ${point}`)
  const next = await site.start()
  await growing.waitUntilQuiet()
  await growing.judge(await judgeSite(site))
  await next.kill()
}
