// The suggested word is the one with the fewest edits.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { nearestWord } from './nearest-word.ts'

test('the nearest word has the fewest edits, ignoring case', () => {
  expect(nearestWord('RATE_LIMT', ['is_open', 'rate_limit', 'hosts'])).toBe('rate_limit')
  expect(nearestWord('x', [])).toBe('')
  expect(nearestWord('mcp', ['port', 'mcp_enabled', 'mcp_url'])).toBe('mcp_enabled')
})

test('a known word is its own nearest word', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.stringMatching(/^[a-z]{1,8}$/), { minLength: 1 }), (known) => {
      for (const word of known) expect(nearestWord(word, known)).toBe(word)
    }),
  )
})
