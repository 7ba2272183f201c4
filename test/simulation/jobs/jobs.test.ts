// Jobs under simulated time: processes die, pause and lose their store, and every job runs to its end, once, in order.
import { expect, test } from 'vitest'
import { documentLeases } from '../../../adapters/lease/document/document-leases.ts'
import { jobLeases } from '../../../daemon/kernel/job/lease.ts'
import { seededRandom } from '../../support/random/seeded-random.ts'
import { openTemporaryStore } from '../../support/store/open-temporary-store.ts'
import { type JobHistoryCounts, runJobHistory } from './job-history.ts'
import { effects, works } from './work-job.ts'

const one = process.env.SIMULATED_SEED
const seeds = one === undefined ? Array.from({ length: 6 }, (_, at) => 7_000 + at) : [Number(one)]
const total: JobHistoryCounts = {
  ...{ kills: 0, pauses: 0, takeovers: 0, cuts: 0, losses: 0 },
  ...{ cancelled: 0, completed: 0, failed: 0 },
}

async function runHistory(seed: number, isCrashFree: boolean): Promise<JobHistoryCounts> {
  const { store } = openTemporaryStore(works, effects, jobLeases)
  const holders = seededRandom(seed + 1)
  const random = (bytes: number) => Array.from({ length: bytes }, () => holders.below(16).toString(16)).join('')
  const leases = ({ now }: { now: () => number }) => documentLeases({ store, tenant_id: 'alpha', now, random })
  return await runJobHistory({ seed, events: 50, store, leases, isCrashFree })
}

test.each(seeds)('history %i', async (seed) => {
  const counts = await runHistory(seed, false)
  for (const name of Object.keys(total) as (keyof JobHistoryCounts)[]) total[name] += counts[name]
})

test.each(seeds)('history %i, in which answers are lost and no process crashes', async (seed) => {
  expect((await runHistory(seed, true)).losses).toBeGreaterThan(100)
})

test('the histories have tried what they are for', () => {
  if (one !== undefined) return
  for (const count of Object.values(total)) expect(count).toBeGreaterThan(0)
})
