// Names that sound alike have one sound, whatever their spelling.
import { expect, test } from 'vitest'
import { metaphone } from './metaphone.ts'

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
