// What the answers of a document that is a job say while its work is put off.
import { expect, test } from 'vitest'
import { showDelay } from './job-delay.ts'
import type { JobFields } from './job-fields.ts'
import { claimJob, completeStep, endJob, newJob, retryLater } from './rules.ts'

const failure = { code: 'unavailable', reason: 'the role site does not answer' }
const waits = { first_ms: 1_000, longest_ms: 60_000 }
const begin = (value: JobFields, now_ms: number) => claimJob(value, now_ms) as JobFields
const putOff = (value: JobFields, now_ms: number) =>
  retryLater(value, failure, { now_ms, waits, chance: 0 }) as JobFields

test('the reason, the failures in a row and the next attempt, until a step has succeeded', () => {
  const first = putOff(begin(newJob(undefined, 0), 0), 5_000)
  expect(showDelay(first)).toEqual({ delay: { failure, failures: 1, next_attempt_at: '1970-01-01T00:00:06.000Z' } })
  const again = begin(first, 6_000)
  expect(showDelay(again)).toEqual({ delay: { failure, failures: 1 } })
  expect(showDelay(putOff(again, 6_000))).toMatchObject({ delay: { failures: 2 } })
  expect(showDelay(completeStep(again))).toEqual({})
})

test('nothing for a job that is over: its document says why', () => {
  const delayed = putOff(begin(newJob(undefined, 0), 0), 5_000)
  expect(showDelay(endJob(delayed, 'failed', {}, failure))).toEqual({})
  expect(showDelay(newJob(undefined, 0))).toEqual({})
})
