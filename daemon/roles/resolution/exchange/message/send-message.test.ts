// The reason of an end that other sites receive reveals nothing about the records.
import { expect, test } from 'vitest'
import { redactFailure } from './send-message.ts'

test('the other site does not learn how many records match', () => {
  const failure = { code: 'too_large', reason: 'the exchange found 4711 matches, and a run may write 1000' }
  expect(JSON.stringify(redactFailure({ state: 'failed', failure }))).not.toMatch(/4711|1000|large/)
})

test('the other site receives a person’s reason, and faults of its own data', () => {
  const declined = { code: 'declined', reason: 'not today' }
  expect(redactFailure({ state: 'declined', failure: declined })).toEqual(declined)
  const invalid = {
    code: 'invalid',
    reason: 'the points of bravo are not valid: point 1 is not above the one before it',
  }
  expect(redactFailure({ state: 'failed', failure: invalid })).toEqual(invalid)
})
