// Names that sound alike have one sound, whatever their spelling.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { computeSoundSignature, metaphone } from './metaphone.ts'

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

function computeSignature(text: string): number {
  const units = Uint16Array.from(`..${text}.`, (letter) => letter.charCodeAt(0))
  return computeSoundSignature(units, 2, units.length - 1)
}

test('the sign of a text is that of its sound: what is always heard, and a vowel at the beginning', () => {
  const letters = fc.constantFrom(
    ...'abcdefghijklmnopqrstuvwxyz',
    'l',
    'm',
    'n',
    'r',
    'a',
    'e',
    'g',
    'h',
    ' ',
    "'",
    'é',
  )
  const signs = new Map<string, number>()
  fc.assert(
    fc.property(fc.string({ unit: letters, maxLength: 8 }), (text) => {
      const sound = metaphone(text)
      const heard = `${/^[aeiou]/.exec(sound)?.[0] ?? ''} ${sound.replace(/[^lmnr]/g, '')}`
      expect(computeSignature(text)).toBe(signs.get(heard) ?? computeSignature(text))
      signs.set(heard, computeSignature(text))
    }),
    { numRuns: 20_000 },
  )
  expect(new Set(signs.values()).size).toBe(signs.size)
})
