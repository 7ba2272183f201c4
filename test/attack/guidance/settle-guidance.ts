// Waits until all that a site has observed is stored, in the graphs, and learnt from.
import { graphHeads, head_id } from '../../../daemon/roles/gateway/guide/graph/head-model.ts'
import { learningPart } from '../../../daemon/roles/gateway/guide/learning/parts.ts'
import { observerPart } from '../../../daemon/roles/gateway/guide/observation/parts.ts'
import { type TestSite, waitUntil } from '../../support/site/test-site.ts'

/** Longer than a trace is awaited. */
const settle_ms = 31_000

/** Observations that were stored when the site had settled. */
const settled = new WeakMap<TestSite, number>()

/** Nothing is learnt where nothing was stored since the last time. */
export async function settleGuidance(site: TestSite): Promise<void> {
  const { queue, stored } = site.part('gateway', observerPart)
  const accepted = () => [...queue.counts.values()].reduce((sum, counts) => sum + counts.accepted, 0)
  await waitUntil(async () => {
    // Seeds by hand go past the queue.
    const ended = stored.observations + stored.repeats + stored.invalid + stored.failed
    if (queue.depth > 0 || ended < accepted()) {
      site.wakeWorker('gateway', 'ingest-observations')
      return false
    }
    return (await site.store('gateway').get(graphHeads, head_id))?.value.state === 'done'
  })
  if (settled.get(site) === stored.observations) return
  const learner = site.part('gateway', learningPart)
  site.clock.advance(settle_ms)
  await waitUntil(async () => {
    site.wakeWorker('gateway', 'learn-guidance')
    return learner.waiting === 0
  })
  // A run takes the requests after the one before it has ended.
  for (const request of ['one', 'another']) {
    learner.requested.add(request)
    await waitUntil(async () => {
      site.wakeWorker('gateway', 'learn-guidance')
      return !learner.requested.has(request)
    })
  }
  settled.set(site, stored.observations)
}
