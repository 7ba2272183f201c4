// Codes and numbers within texts: what they share decides the level.
import { expect, test } from 'vitest'
import { buildDictionary } from '../text/dictionary.ts'
import { createCodesLevels, createNumbersLevels } from './listed-levels.ts'

function buildColumn(values: readonly string[]) {
  return { codes: Int32Array.from(values, (_, code) => code), dictionary: buildDictionary(values) }
}

function findLevel(create: typeof createCodesLevels, a: string, b: string, others: readonly string[] = []): number {
  return create(buildColumn([a, b, ...others])).levelOf(0, 1)
}

test.each([
  ['one code in common', 'canon sd1100 silver', 'powershot sd1100 8mp4', 0],
  ['a code within the letters of the other text', 'apple mb745lla', 'apple mb745ll a notebook', 1],
  ['different codes', 'canon sd1100', 'canon xt400', 2],
  ['nearly equal codes', 'canon sd1100', 'canon sd1200', 3],
  ['no code on one side', 'canon sd1100', 'canon silver', -1],
])('codes: %s', (_, a, b, level) => {
  expect(findLevel(createCodesLevels, a, b)).toBe(level)
  expect(findLevel(createCodesLevels, b, a)).toBe(level)
})

test('codes: a word of many records is a property, and not a code', () => {
  const others = Array.from({ length: 8 }, (_, at) => `screen 1080p model${at}x`)
  expect(findLevel(createCodesLevels, 'screen 1080p', 'radio 1080p', others)).toBe(-1)
})

test.each([
  ['the same in another order', '4 500', '500 4', 0],
  ['all of one among the others', '4', '4 500', 1],
  ['some in common', '4 7', '4 500', 2],
  ['none in common', '7', '4 500', 3],
])('numbers: %s', (_, a, b, level) => {
  expect(findLevel(createNumbersLevels, a, b)).toBe(level)
})
