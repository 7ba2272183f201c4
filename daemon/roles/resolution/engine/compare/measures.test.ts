// Measures reproduce published values, and are symmetric and bounded.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { MeasureName } from '../../lens/comparison.ts'
import { buildDictionary } from '../text/dictionary.ts'
import { createNormaliser } from '../text/normalisers.ts'
import { createMeasure } from './measures.ts'

const measureTexts = (name: MeasureName, a: string, b: string, least = -1e9, q = 2) => {
  const dictionary = buildDictionary([a, b])
  return createMeasure(name, dictionary, least, { q, phonetics: ['metaphone'], heard: dictionary })(0, 1)
}

describe('published values', () => {
  // Winkler, "String comparator metrics", 1990, table of examples.
  test.each([
    ['martha', 'marhta', 0.961],
    ['dixon', 'dicksonx', 0.813],
    ['dwayne', 'duane', 0.84],
  ])('Jaro-Winkler of %s and %s', (a, b, expected) => {
    expect(measureTexts('jaro_winkler', a, b, 0)).toBeCloseTo(expected, 3)
  })

  test.each([
    ['levenshtein', 'kitten', 'sitting', -3],
    ['levenshtein', 'saturday', 'sunday', -3],
    ['levenshtein', 'smith', 'smiht', -2],
    ['damerau_levenshtein', 'smith', 'smiht', -1],
    ['levenshtein', 'ca', 'abc', -3],
  ] as const)('%s of %s and %s', (name, a, b, expected) => {
    expect(measureTexts(name, a, b, -9)).toBe(expected)
  })

  test('Levenshtein as a part of the longer', () => {
    expect(measureTexts('levenshtein_part', 'kitten', 'sitting', 0.1)).toBeCloseTo(1 - 3 / 7, 12)
  })

  // `jaccard('duck', 'luck')` in the documentation of DuckDB; Dice of night and nacht is .25, so that Jaccard is 1/7.
  test('q-gram Jaccard', () => {
    expect(measureTexts('qgram_jaccard', 'duck', 'luck', 0, 1)).toBeCloseTo(0.6, 12)
    expect(measureTexts('qgram_jaccard', 'night', 'nacht', 0, 2)).toBeCloseTo(1 / 7, 12)
  })

  test('the sound', () => {
    expect(measureTexts('sound', 'knight', 'night')).toBe(1)
    expect(measureTexts('sound', 'knight', 'day')).toBe(0)
    expect(measureTexts('sound', '12', '34')).toBe(0)
  })

  // Nashville to Los Angeles, 2,886.44 km with a radius of 6,371 km (Rosetta Code, "Haversine formula").
  test('kilometres', () => {
    expect(measureTexts('kilometres', '36.12,-86.67', '33.94,-118.4')).toBeCloseTo(-2886.45, 1)
    expect(measureTexts('kilometres', '0,0', '0,180')).toBeCloseTo(-Math.PI * 6371.0088, 6)
  })

  test('days, also across a leap day; an invalid date has no distance', () => {
    expect(measureTexts('days', '20000228', '20000301')).toBe(-2)
    expect(measureTexts('days', '19000228', '19000301')).toBe(-1)
    expect(measureTexts('days', '20010230', '20010301')).toBeNaN()
    expect(measureTexts('days', '2001', '20010301')).toBeNaN()
  })

  test('differences and sets', () => {
    expect(measureTexts('difference', '-3', '4.5')).toBe(-7.5)
    expect(measureTexts('difference_part', '80', '100')).toBeCloseTo(-0.2, 12)
    expect(measureTexts('in_common', 'a|b|c', 'b|c|d|e')).toBe(2)
    expect(measureTexts('overlap', 'a|b|c', 'b|c|d|e')).toBeCloseTo(2 / 3, 12)
  })
})

const texts = fc
  .string({ unit: fc.constantFrom('a', 'b', 'c', 'é', ' '), minLength: 1, maxLength: 40 })
  .map((text) => `x${text}`)
const fractionMeasures: readonly MeasureName[] = [
  'jaro_winkler',
  'levenshtein_part',
  'damerau_levenshtein_part',
  'qgram_jaccard',
  'tfidf_cosine',
  'sound',
  'overlap',
]

test.each(fractionMeasures)('%s is symmetric and from 0 to 1', (name) => {
  fc.assert(
    fc.property(texts, texts, (a, b) => {
      fc.pre(a !== b)
      const [forward, backward] = [measureTexts(name, a, b, 0), measureTexts(name, b, a, 0)]
      // Jaro assigns the letters of one side in turn, so the order may change the last digits.
      expect(forward).toBeCloseTo(backward, name === 'jaro_winkler' ? 1 : 9)
      expect(forward).toBeGreaterThanOrEqual(0)
      expect(forward).toBeLessThanOrEqual(1 + 1e-6)
    }),
  )
})

test('Levenshtein equals its definition for any length', () => {
  fc.assert(
    fc.property(texts, texts, (a, b) => {
      expect(measureTexts('levenshtein', a, b, -99)).toBe(-computeEditDistance(a, b))
    }),
  )
})

function computeEditDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (let y = 1; y <= a.length; y++) {
    const next = [y]
    for (let x = 1; x <= b.length; x++) {
      const changed = (row[x - 1] ?? 0) + (a[y - 1] === b[x - 1] ? 0 : 1)
      next.push(Math.min(changed, (row[x] ?? 0) + 1, (next[x - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? 0
}

test.each([
  ['location', ' (52.52, 13.405) ', '52.52,13.405'],
  ['location', '91,0', ''],
  ['set', '["Red", "blue"; red]', 'blue|red'],
  ['decimal', '-1,200.50', '-1200.5'],
  ['decimal', '', ''],
  ['no_placeholders', ' N/A ', ''],
  ['no_placeholders', 'Nana', 'Nana'],
  ['sorted_words', 'Smith, John', 'john smith'],
] as const)('%s turns %j into %j', (name, text, expected) => {
  expect(createNormaliser([name])(text)).toBe(expected)
})
