// Names that sound alike have the same code for any spelling.
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

test('a text without letters has no sound', () => {
  expect(metaphone('12 34')).toBe('')
})

function computeSignature(text: string): number {
  const units = Uint16Array.from(`..${text}.`, (letter) => letter.charCodeAt(0))
  return computeSoundSignature(units, 2, units.length - 1)
}

test('the signature of a text depends on its always key letters and its initial vowel only', () => {
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
  const signatures = new Map<string, number>()
  fc.assert(
    fc.property(fc.string({ unit: letters, maxLength: 8 }), (text) => {
      const sound = metaphone(text)
      const key = `${/^[aeiou]/.exec(sound)?.[0] ?? ''} ${sound.replace(/[^lmnr]/g, '')}`
      expect(computeSignature(text)).toBe(signatures.get(key) ?? computeSignature(text))
      signatures.set(key, computeSignature(text))
    }),
    { numRuns: 20_000 },
  )
  expect(new Set(signatures.values()).size).toBe(signatures.size)
})
