// Fair turns of runs: the queue of one tenant or principal delays nobody else's first run, and quotas hold.
import { expect, test } from 'vitest'
import { start } from '../../../daemon/roles/resolution/fusion-run/start.ts'
import { create } from '../../../daemon/roles/resolution/lens/create.ts'
import type { CheckedClient } from '../../support/http/checked-client.ts'
import { type ReadAuditEvent, readAuditEvents } from '../../support/site/read-audit-events.ts'
import { buildPeople, buildPersonLens, setUpResolutionSite, waitForRunEnd } from './resolution-site.ts'

const queued_runs = 50
const world = setUpResolutionSite({ runs_per_principal: queued_runs })
const small = { lens_id: 'people', node_data: { east: buildPeople(0, 4) }, accept_poor: true }

async function startRuns(person: CheckedClient, count: number): Promise<string[]> {
  const runs: string[] = []
  for (let seed = 0; seed < count; seed++) runs.push((await person.ok(start, { ...small, seed })).run_id)
  return runs
}

/** Counts the runs whose work began between the request of this one and the beginning of its work. */
function countOvertaking(order: readonly ReadAuditEvent[], run: string): number {
  const requested = order.findIndex((event) => event.target === run && event.action.endsWith('fusion-run.start'))
  const begun = order.findIndex((event) => event.target === run && event.action.endsWith('extract-begun'))
  expect([requested >= 0, begun > requested]).toEqual([true, true])
  return order.slice(requested, begun).filter(({ action }) => action.endsWith('extract-begun')).length
}

test('fifty queued runs delay neither the first of another tenant nor the first of another principal', async () => {
  const ann = await world().as({ tenant: 'crowded', subject: 'ann' })
  const bob = await world().as({ tenant: 'crowded', subject: 'bob' })
  const eve = await world().as({ tenant: 'elsewhere', subject: 'eve' })
  for (const person of [ann, eve]) await person.ok(create, { body: buildPersonLens() })
  await startRuns(ann, queued_runs)
  const [first = ''] = await startRuns(eve, 1)
  const [second = ''] = await startRuns(bob, 1)
  expect(await waitForRunEnd(eve, first)).toMatchObject({ state: 'completed' })
  expect(await waitForRunEnd(bob, second)).toMatchObject({ state: 'completed' })
  const order = await readAuditEvents(world(), 'resolution')
  // The worker may have chosen one run before it was requested; bob also waits for the turn of the other tenant.
  expect(countOvertaking(order, first)).toBeLessThanOrEqual(1)
  expect(countOvertaking(order, second)).toBeLessThanOrEqual(2)
})

test('a principal has a quota of open runs, which is not that of its tenant', async () => {
  const ann = await world().as({ tenant: 'limited', subject: 'ann' })
  const bob = await world().as({ tenant: 'limited', subject: 'bob' })
  await ann.ok(create, { body: buildPersonLens() })
  const answers = await Promise.all(
    Array.from({ length: queued_runs + 25 }, (_, seed) => ann.call(start, { ...small, seed })),
  )
  const refused = answers.find(({ problem }) => problem)
  expect(refused?.problem).toMatchObject({ code: 'rate_limited' })
  expect(refused?.problem?.detail).toContain('runs of this principal are open')
  await bob.ok(start, small)
})
