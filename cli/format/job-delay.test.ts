// Work that is put off says why, how often, and when it is tried again.
import { expect, test } from 'vitest'
import { formatDelay } from './job-delay.ts'

const failure = { code: 'unavailable', reason: 'the role site does not answer' }

test('the reason, the failures in a row and the next attempt', () => {
  const next_attempt_at = '2026-03-02T12:00:05.000Z'
  expect(formatDelay({ delay: { failure, failures: 2, next_attempt_at } })).toEqual({
    delayed: `the role site does not answer (2 failures in a row, next attempt ${next_attempt_at})`,
  })
  expect(formatDelay({ delay: { failure, failures: 1 } }).delayed).toContain('(1 failure in a row, an attempt runs)')
})

test('nothing for work that goes on', () => {
  expect(formatDelay({ state: 'running' })).toEqual({})
})
