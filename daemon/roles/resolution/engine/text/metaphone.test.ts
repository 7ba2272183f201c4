// Names that sound alike have one sound, whatever their spelling.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { always_heard, metaphone } from './metaphone.ts'

test.each([
  [['thompson', 'tompson'], 2],
  [['catherine', 'katherine', 'kathryn'], 1],
  [['stephen', 'stefen'], 1],
  [['knight', 'night', 'nite'], 1],
  [['wright', 'rite'], 1],
  [['phillips', 'filips'], 1],
])('%j has %i sounds', (names, sounds) => {
  expect(new Set(names.map(metaphone)).size).toBe(sounds)
})

test('what has no letters has no sound', () => {
  expect(metaphone('12 34')).toBe('')
})

test('letters that are always heard are in the sound if and only if they are in the text', () => {
  const letters = fc.constantFrom(...'abcdefghijklmnopqrstuvwxyz', 'l', 'm', 'n', 'r', 'g', 'h', ' ', "'")
  fc.assert(
    fc.property(fc.string({ unit: letters, maxLength: 8 }), (text) => {
      const sound = metaphone(text)
      for (const letter of always_heard) expect(sound.includes(letter)).toBe(text.includes(letter))
    }),
    { numRuns: 5_000 },
  )
})
