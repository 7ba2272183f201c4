// A shortened text is always storable: within its length, and valid Unicode.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { shortenText } from './shorten-text.ts'

test('a text that fits stays as it is', () => {
  expect(shortenText('twelve chars', 12)).toBe('twelve chars')
})

test('a longer one ends in an ellipsis, and no character is cut in half', () => {
  expect(shortenText('x'.repeat(13), 12)).toBe(`${'x'.repeat(11)}…`)
  expect(shortenText(`${'x'.repeat(10)}\u{1F512}y`, 12)).toBe(`${'x'.repeat(10)}…`)
})

test('any text is within its length and valid', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 40 }), fc.integer({ min: 1, max: 20 }), (text, max_length) => {
      const halved = shortenText(text.slice(1), max_length)
      expect(halved.length).toBeLessThanOrEqual(max_length)
      expect(halved.isWellFormed()).toBe(true)
    }),
  )
})
