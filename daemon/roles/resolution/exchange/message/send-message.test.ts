// Why an exchange ended, as the other sites are told: nothing that the records say.
import { expect, test } from 'vitest'
import { redactFailure } from './send-message.ts'

test('how many records match is no word for the other site', () => {
  const failure = { code: 'too_large', reason: 'the exchange found 4711 matches, and a run may write 1000' }
  expect(JSON.stringify(redactFailure({ state: 'failed', failure }))).not.toMatch(/4711|1000|large/)
})

test('a person’s words, and what was wrong with what they sent, are for them', () => {
  const words = { code: 'declined', reason: 'not today' }
  expect(redactFailure({ state: 'declined', failure: words })).toEqual(words)
  const wrong = { code: 'invalid', reason: 'the points of bravo are not valid: point 1 is not above the one before it' }
  expect(redactFailure({ state: 'failed', failure: wrong })).toEqual(wrong)
})
