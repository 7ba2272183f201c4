// A job has one valid claim at a time, and its steps never go backwards, in any order of events.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { JobFields } from './job-fields.ts'
import {
  claimJob,
  completeStep,
  endJob,
  estimateRemaining_s,
  isClaimValid,
  isJobDue,
  isJobIdle,
  isJobOver,
  leaveToSite,
  max_crashes,
  newJob,
  recordProgress,
  releaseJob,
  retryLater,
  waitForEvent,
  wakeJob,
  withdrawStart,
} from './rules.ts'

const principal = { subject: 'ann', tenant_id: 't', roles: ['analyst'], grant: 'sealed' }
const waits = { first_ms: 1_000, longest_ms: 60_000 }
const failure = { code: 'unavailable', reason: 'the disk is full' }

function claimOf(value: JobFields, now_ms = 0): JobFields {
  const claimed = claimJob(value, now_ms)
  if (claimed === undefined || claimed === 'crashed') throw new Error('the job is not due')
  return claimed
}

function putOff(value: JobFields, now_ms: number, chance: number): JobFields {
  const next = retryLater(value, failure, { now_ms, waits, chance })
  if (next === 'exhausted') throw new Error('no retry is left')
  return next
}

describe('a claim', () => {
  test('takes a due job from its former holder, whose claim is then void', () => {
    const first = claimOf(newJob(principal, 0))
    const second = claimOf(first)
    expect(isClaimValid(second, { claims: 1 })).toBe(false)
    expect(isClaimValid(second, { claims: 2 })).toBe(true)
  })

  test('of a job that is not due, waits or is over is not possible', () => {
    expect(claimJob(newJob(principal, 10), 9)).toBeUndefined()
    expect(claimJob(newJob(principal, undefined), 9)).toBeUndefined()
    expect(claimJob(endJob(newJob(principal, 0), 'cancelled', {}), 9)).toBeUndefined()
  })

  test('does not start a step a fourth time after three crashes, and a released one is none', () => {
    let crashing = newJob(principal, 0)
    let released = newJob(principal, 0)
    for (let start = 0; start < max_crashes; start++) {
      crashing = claimOf(crashing)
      released = releaseJob(claimOf(released), 0)
    }
    expect(claimJob(crashing, 0)).toBe('crashed')
    expect(claimOf(released).job).toMatchObject({ state: 'running', starts: [max_crashes + 1] })
  })

  test('has crashes of its own for each step', () => {
    const crashedTwice = claimOf(claimOf(claimOf(newJob(principal, 0))))
    expect(completeStep(crashedTwice).job).toMatchObject({ step: 1, starts: [3] })
  })

  test('that a process lost without a crash is withdrawn, once, whoever claimed the job since', () => {
    const lost = claimOf(newJob(principal, 0))
    const next = claimOf(lost)
    const withdrawn = withdrawStart(next, { claims: 1 }, 5)
    expect(withdrawn).toEqual({ ...next, job: { ...next.job, starts: [2] } })
    expect(withdrawStart(withdrawn, { claims: 1 }, 6)).toBe(withdrawn)
    expect(withdrawStart(lost, { claims: 1 }, 5)).toMatchObject({ job: { state: 'queued', starts: [] }, job_due_ts: 5 })
    const over = endJob(next, 'completed', {})
    expect(withdrawStart(over, { claims: 1 }, 5)).toBe(over)
  })
})

describe('an event', () => {
  test('that arrives while a step runs is not lost', () => {
    const woken = wakeJob(claimOf(newJob(principal, 0)), 5)
    const rested = waitForEvent(woken, 7)
    expect(rested).toMatchObject({ job: { state: 'queued' }, job_due_ts: 7 })
    expect(isJobIdle(waitForEvent(claimOf(rested, 7), 8))).toBe(true)
  })

  test('gives the job another principal, and a job that is over stays as it is', () => {
    const bob = { ...principal, subject: 'bob' }
    expect(wakeJob(newJob(principal, undefined), 3, bob)).toMatchObject({
      job: { state: 'queued', principal: { subject: 'bob' } },
      job_due_ts: 3,
    })
    const over = endJob(newJob(principal, 0), 'completed', {})
    expect(wakeJob(over, 3, bob)).toBe(over)
  })
})

test('the first end counts, with the fields of the document that belong to it', () => {
  const run = { ...newJob(principal, 0), state: 'running', ended_at: 0 }
  const completed = endJob(run, 'completed', { state: 'completed', ended_at: 5 })
  expect(completed).toMatchObject({ job: { state: 'completed' }, state: 'completed', ended_at: 5 })
  expect(endJob(completed, 'cancelled', { state: 'cancelled', ended_at: 9 })).toBe(completed)
})

test('a job that is over keeps its person, and no grant to act by', () => {
  for (const state of ['completed', 'failed', 'cancelled'] as const) {
    const { grant: _grant, ...person } = principal
    expect(endJob(claimOf(newJob(principal, 0)), state, {}).job.principal).toEqual(person)
    expect(endJob(newJob(undefined, 0), state, {}).job).not.toHaveProperty('principal')
  }
})

test('what is left to the site needs no principal, no retry of a former step, and a new claim', () => {
  const claimed = claimOf(claimOf(newJob(principal, 0)))
  const left = leaveToSite(wakeJob(claimed, 5), 7)
  expect(isClaimValid(left, { claims: 2 })).toBe(false)
  expect(left).toEqual({ job: { state: 'queued', step: 1, starts: [], failures: 0, claims: 2 }, job_due_ts: 7 })
  expect(isClaimValid(claimOf(left, 7), { claims: 3 })).toBe(true)
})

test('the waits between retries double up to the longest, each reduced by up to half', () => {
  const waitsOf = (chance: number) => {
    let value = newJob(principal, 0)
    return Array.from({ length: 9 }, () => {
      value = putOff(claimOf(value, 1e12), 0, chance)
      return value.job_due_ts
    })
  }
  expect(waitsOf(0)).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60].map((seconds) => seconds * 1_000))
  expect(waitsOf(1)).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60].map((seconds) => seconds * 500))
})

test('progress never falls, and its pace is that of the present holder', () => {
  const begun = recordProgress(claimOf(newJob(principal, 0)), { done: 0, total: 10 }, 1_000)
  const further = recordProgress(begun, { done: 4, total: 10 }, 9_000)
  const progressOf = ({ job: { progress } }: JobFields) => {
    if (!progress) throw new Error('there is no progress')
    return progress
  }
  expect(estimateRemaining_s(progressOf(begun), 1_500)).toBeUndefined()
  expect(estimateRemaining_s(progressOf(further), 9_000)).toBe(12)
  const resumed = claimOf(releaseJob(further, 10_000), 100_000)
  expect(estimateRemaining_s(progressOf(resumed), 101_000)).toBeUndefined()
  const repeated = recordProgress(resumed, { done: 1, total: 10 }, 101_000)
  expect(progressOf(repeated)).toMatchObject({ done: 4, total: 10 })
  expect(estimateRemaining_s(progressOf(recordProgress(repeated, { done: 7, total: 10 }, 103_000)), 103_000)).toBe(3)
  const whole = recordProgress(repeated, { done: 12, total: 10 }, 104_000)
  expect([progressOf(whole).total, estimateRemaining_s(progressOf(whole), 104_000)]).toEqual([12, 0])
})

test('a retry counts no crash, and keeps the reason until a step completes', () => {
  const put_off = putOff(claimOf(newJob(principal, 0)), 0, 0)
  expect(put_off.job).toMatchObject({ state: 'waiting', starts: [], failures: 1, failure })
  expect(completeStep(claimOf(put_off, 1e12)).job.failure).toBeUndefined()
})

type Event = (value: JobFields, now_ms: number) => JobFields
const unchanged = (value: JobFields) => value
/** A step moves a job that it holds. One that ended meanwhile must stay as it is, whoever forgets to look. */
const isHeldOrOver = (value: JobFields) => value.job.state === 'running' || isJobOver(value)
const events: Record<string, Event> = {
  claim: (value, now_ms) => {
    const next = claimJob(value, now_ms)
    return next === undefined || next === 'crashed' ? value : next
  },
  step: (value) => (isHeldOrOver(value) ? completeStep(value) : value),
  rest: (value, now_ms) => (isHeldOrOver(value) ? waitForEvent(value, now_ms) : value),
  release: (value, now_ms) => (isHeldOrOver(value) ? releaseJob(value, now_ms) : value),
  withdraw: (value, now_ms) => withdrawStart(value, { claims: value.job.claims - (now_ms % 2) }, now_ms),
  retry: (value, now_ms) => (isHeldOrOver(value) ? putOff(value, now_ms, 0.5) : value),
  wake: (value, now_ms) => wakeJob(value, now_ms),
  report: (value, now_ms) =>
    isHeldOrOver(value) ? recordProgress(value, { done: now_ms % 7, total: 7 }, now_ms) : value,
  complete: (value) => endJob(value, 'completed', {}),
  fail: (value) => endJob(value, 'failed', {}, failure),
  cancel: (value) => endJob(value, 'cancelled', {}),
  leave: (value, now_ms) => (isJobOver(value) ? value : leaveToSite(value, now_ms)),
  nothing: unchanged,
}

test('in any order of events, steps and claims never fall, an end is final, and open work is never forgotten', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.constantFrom(...Object.keys(events)), fc.nat(100_000)), { maxLength: 60 }),
      (list) => {
        let value = newJob(principal, 0)
        let now_ms = 0
        for (const [name, passed_ms] of list) {
          now_ms += passed_ms
          const before = value
          value = (events[name] ?? unchanged)(value, now_ms)
          expect(value.job.step).toBeGreaterThanOrEqual(before.job.step)
          expect(value.job.progress?.done ?? 0).toBeGreaterThanOrEqual(before.job.progress?.done ?? 0)
          expect(value.job.claims).toBeGreaterThanOrEqual(before.job.claims)
          if (isJobOver(before)) expect(value).toBe(before)
          if (isJobOver(value)) expect(value.job_due_ts).toBeUndefined()
          // Open work has a time at which it is due, or waits for an event that is still to come.
          else expect(isJobDue(value, now_ms + waits.longest_ms)).toBe(!isJobIdle(value))
        }
      },
    ),
  )
})
