// A pool beside a model of it, over any history of requests, answers, failures, probes, time and membership: in simulated time,
// before members that answer when the history says so.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { poolOperations } from '../../../test/support/forward/pool-operations.ts'
import { SimulatedPool } from '../../../test/support/forward/simulated-pool.ts'

test('of any history, each request has one outcome, from members that were present, healthy and least busy', async () => {
  await fc.assert(
    fc.asyncProperty(poolOperations, async (operations) => {
      const pool = new SimulatedPool()
      for (const operation of operations) await pool.perform(operation)
      await pool.finish()
    }),
    { numRuns: 500 },
  )
})

test('the histories reach retries, ejections, members that are down, and requests at removed members', async () => {
  const seen = { retries: 0, ejected: 0, down: 0, recovering: 0, no_member: 0, removed: 0 }
  for (const operations of fc.sample(poolOperations, { numRuns: 300, seed: 7 })) {
    const pool = new SimulatedPool()
    for (const operation of operations) await pool.perform(operation)
    for (const name of Object.keys(seen) as (keyof typeof seen)[]) seen[name] += pool.seen[name]
  }
  for (const [name, times] of Object.entries(seen)) expect(times, name).toBeGreaterThan(10)
})
