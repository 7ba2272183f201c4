// A bulk disposition records outcomes of its signals, and ends finished or cancelled.
import { describe, expect, test } from 'vitest'
import { isRefusal } from '../../../kernel/error/errors.ts'
import type { JobFields } from '../../../kernel/job/job-fields.ts'
import { claimJob, isClaimValid, newJob } from '../../../kernel/job/rules.ts'
import { adoptEarlierBulk, type StoredBulk } from './model.ts'
import {
  type BulkItemOutcome,
  cancelBulk,
  completeBatch,
  countAllowed,
  endBulk,
  failBulk,
  listUndecided,
} from './rules.ts'

const at = '2026-03-02T12:00:00.000Z'
const now_ms = Date.parse(at)
const label = { policy: 'SITE', level: 'OPEN', categories: [], originator: 'alpha' }
const principal = { subject: 'ann', tenant_id: 'alpha', roles: ['analyst'], grant: 'sealed' }
const bulkFields: Omit<StoredBulk, keyof JobFields> = {
  ...{ tenant_id: 'alpha', label, created_by: 'ann', created_at: at, updated_at: at, request_digest: '' },
  ...{ disposition: 'dismissed', rationale: 'a storm', state: 'running' },
  items: [{ signal_id: 'a' }, { signal_id: 'b' }],
}
const newBulk: StoredBulk = { ...bulkFields, ...newJob(principal, now_ms) }
const doneOutcome: BulkItemOutcome = { outcome: 'done' }
const refusedOutcome: BulkItemOutcome = { outcome: 'refused', reason: 'is final' }
const failure = { code: 'forbidden', reason: 'ann was revoked' }

/** As a process holds it. */
function claimed(value: StoredBulk): StoredBulk {
  const next = claimJob(value, now_ms)
  if (next === undefined || next === 'crashed') throw new Error('it is not due')
  return next
}

function cancelled(value: StoredBulk): StoredBulk {
  const next = cancelBulk(value, 'bob', at, now_ms)
  if (isRefusal(next)) throw next
  return next
}

const runningBulk = claimed(newBulk)

test('it takes its turn again after each batch, and is over when each signal has an outcome', () => {
  const partial = completeBatch(runningBulk, new Map([['b', refusedOutcome]]), at, now_ms)
  expect([partial.state, listUndecided(partial, 9)]).toEqual(['running', ['a']])
  expect(partial).toMatchObject({ job: { state: 'queued', step: 1, principal }, job_due_ts: now_ms })
  const finished = completeBatch(claimed(partial), new Map([['a', doneOutcome]]), at, now_ms)
  expect(finished).toMatchObject({ state: 'finished', job: { state: 'completed', step: 2 }, finished_at: at })
  expect(finished.items).toEqual([
    { signal_id: 'a', outcome: 'done' },
    { signal_id: 'b', ...refusedOutcome },
  ])
})

test('a cancelled one loses its holder and its principal at once, and ends with what had been done', () => {
  const ending = cancelled(runningBulk)
  expect(ending).toMatchObject({
    state: 'cancelling',
    cancelled_by: 'bob',
    job: { state: 'queued' },
    job_due_ts: now_ms,
  })
  expect([ending.job.principal, isClaimValid(ending, runningBulk.job)]).toEqual([undefined, false])
  expect(claimed(ending).job.claims).toBe(runningBulk.job.claims + 1)
  expect(cancelBulk(ending, 'cy', at, now_ms)).toBe(ending)
  const ended = endBulk(claimed(ending), new Set(['a']), at)
  expect(ended).toMatchObject({ state: 'cancelled', cancelled_by: 'bob', finished_at: at, job: { state: 'cancelled' } })
  expect(ended.items.map(({ outcome }) => outcome)).toEqual(['done', 'cancelled'])
  expect(ended).not.toHaveProperty('failure')
  expect(cancelBulk(ended, 'cy', at, now_ms)).toBe(ended)
})

test('a finished one cannot be cancelled', () => {
  const outcomes = new Map([
    ['a', doneOutcome],
    ['b', doneOutcome],
  ])
  expect(isRefusal(cancelBulk(completeBatch(runningBulk, outcomes, at, now_ms), 'bob', at, now_ms))).toBe(true)
})

describe('one that may not go on', () => {
  test('is left to the site, which reports what was done, with the reason', () => {
    const ending = failBulk(runningBulk, failure, at, now_ms)
    expect(ending).toMatchObject({ state: 'cancelling', failure, job: { state: 'queued' }, job_due_ts: now_ms })
    expect([ending.job.principal, isClaimValid(ending, runningBulk.job)]).toEqual([undefined, false])
    const ended = endBulk(claimed(ending), new Set(['b']), at)
    expect(ended).toMatchObject({ state: 'cancelled', failure, job: { state: 'failed', failure } })
    expect(ended.items.map(({ outcome }) => outcome)).toEqual(['cancelled', 'done'])
  })

  test('ends also where the site cannot read what was done, and says so', () => {
    const ending = claimed(failBulk(runningBulk, failure, at, now_ms))
    const ended = failBulk(ending, { code: 'internal', reason: 'it crashed' }, at, now_ms)
    expect(ended).toMatchObject({ state: 'cancelled', failure, job: { state: 'failed' } })
    for (const item of ended.items)
      expect(item).toMatchObject({ outcome: 'cancelled', reason: expect.stringContaining('see its history') })
  })
})

describe('one that an earlier version stored', () => {
  const earlier = (fields: object) => ({ ...bulkFields, clearance: { level: 'OPEN', categories: [] }, ...fields })
  const adopt = (fields: object) => adoptEarlierBulk(earlier(fields)) as StoredBulk

  test('ends with the reason while it is open, since no principal was stored for it', () => {
    const adopted = adopt({ owes: 1 })
    expect(adopted).toMatchObject({ state: 'running', job: { state: 'queued' }, job_due_ts: 0 })
    expect(adopted).not.toHaveProperty('owes')
    expect(adopted).not.toHaveProperty('clearance')
    const ended = endBulk(claimed(adopted), new Set(['a']), at)
    expect(ended).toMatchObject({ state: 'cancelled', failure: { code: 'ended' }, job: { state: 'failed' } })
    expect(ended.items.map(({ outcome }) => outcome)).toEqual(['done', 'cancelled'])
  })

  test('ends as cancelled without a failure where a person was cancelling it', () => {
    const adopted = adopt({ owes: 1, state: 'cancelling', cancelled_by: 'bob' })
    const ended = endBulk(claimed(adopted), new Set(), at)
    expect([ended.state, ended.failure, ended.job.state]).toEqual(['cancelled', undefined, 'cancelled'])
  })

  test('can be cancelled before a process has taken it up', () => {
    const stored = earlier({ owes: 1 }) as unknown as StoredBulk
    expect(cancelled(stored)).toMatchObject({ state: 'cancelling', job: { state: 'queued' }, job_due_ts: now_ms })
  })

  test.each([
    ['finished', 'completed'],
    ['cancelled', 'cancelled'],
  ])('stays as it was where it is %s', (state, jobState) => {
    const adopted = adopt({ owes: 0, state, finished_at: at })
    expect(adopted).toMatchObject({ state, finished_at: at, job: { state: jobState } })
    expect(adopted.job_due_ts).toBeUndefined()
  })

  test('is adopted once: a bulk disposition of this version stays the same', () => {
    expect(adoptEarlierBulk(runningBulk)).toBe(runningBulk)
  })
})

test('the plan counts what the table of transitions allows', () => {
  const counts = new Map([...[['new', 2] as const], ['investigating', 3], ['resolved', 4]] as const)
  expect([countAllowed(counts, 'resolved'), countAllowed(counts, 'dismissed')]).toEqual([3, 5])
})
