// How long a deployment waits for the DAG repository.
import { expect, test } from 'vitest'
import { newJob } from '../../../kernel/job/rules.ts'
import type { ManagedDag } from './model.ts'
import { type RepositoryDelay, waitForRepository } from './rules.ts'

const commit = 'a'.repeat(40)
const label = { policy: 'SITE', level: 'UNCLASSIFIED', categories: [], originator: 'alpha' }
const at = '2026-03-02T12:00:00Z'
const deployed: ManagedDag = {
  ...{ tenant_id: 'alpha', label, created_by: 'ann', created_at: at, updated_at: at, request_digest: '' },
  ...{ dag_id: 'daily', run_on_deploy: false, status: 'pending_validation', is_paused: false, dag_digest: '' },
  ...{ deployments: 1, proposal: { commit, looks: 0, outages: 0 } },
  ...newJob(undefined, 0),
}

/** The waits in seconds until there is none, and why. */
function waitOn(delay: RepositoryDelay, limit = Number.POSITIVE_INFINITY) {
  const waits_s: number[] = []
  for (let value = deployed; waits_s.length < limit; ) {
    const waiting = waitForRepository(value, delay, 0)
    if ('fault' in waiting) return { waits_s, fault: waiting.fault }
    value = waiting.next
    expect(value.proposal).toMatchObject({ commit })
    waits_s.push((value.job_due_ts ?? 0) / 1_000)
  }
  return { waits_s, fault: undefined }
}

test('a check is looked for every 10 s for 200 s, then each minute, and for a day at most', () => {
  const { waits_s, fault } = waitOn({ kind: 'pending' })
  expect(waits_s.slice(0, 21)).toEqual([...Array.from({ length: 20 }, () => 10), 60])
  expect(waits_s.at(-1)).toBe(60)
  expect(waits_s.reduce((sum, wait_s) => sum + wait_s)).toBe(86_400 + 200)
  expect(fault).toMatch('did not end within a day')
})

test('a repository that does not answer is tried every 10 s for 200 s', () => {
  const { waits_s, fault } = waitOn({ kind: 'outage', reason: 'no answer' })
  expect(waits_s).toEqual(Array.from({ length: 20 }, () => 10))
  expect(fault).toMatch('no answer')
})

test('an answer ends the count of outages', () => {
  const outage: RepositoryDelay = { kind: 'outage', reason: 'no answer' }
  const once = waitForRepository(deployed, outage, 0)
  const answered = 'next' in once ? waitForRepository(once.next, { kind: 'pending', reason: 'queued' }, 0) : once
  expect(answered).toMatchObject({ next: { proposal: { commit, looks: 1, outages: 0, reason: 'queued' } } })
})
