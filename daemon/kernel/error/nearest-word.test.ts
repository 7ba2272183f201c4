// Holds suggestions to the word with the fewest edits.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { nearestWord } from './nearest-word.ts'

test('it is the known one with the fewest edits, in any case of letters', () => {
  expect(nearestWord('RATE_LIMT', ['is_open', 'rate_limit', 'hosts'])).toBe('rate_limit')
  expect(nearestWord('x', [])).toBe('')
})

test('of a known word it is itself', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.stringMatching(/^[a-z]{1,8}$/), { minLength: 1 }), (known) => {
      for (const word of known) expect(nearestWord(word, known)).toBe(word)
    }),
  )
})
