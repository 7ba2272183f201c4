// A comparison reads the first 1,024 characters of a value, and equality all of it.
import { expect, test } from 'vitest'
import { type MeasureName, max_compared_characters } from '../../lens/comparison.ts'
import { buildDictionary, decodeText } from '../text/dictionary.ts'
import { capValues, isCapped } from './cap-values.ts'
import { createPairComparer } from './pair-comparer.ts'

const longest = 'ab'.repeat(max_compared_characters / 2)

test('values of up to the limit stay as they are', () => {
  const dictionary = buildDictionary(['a', longest])
  expect(capValues(dictionary)).toBe(dictionary)
  expect(isCapped(longest)).toBe(false)
})

test('a longer value is cut after a whole character', () => {
  const pairs = '😀'.repeat(max_compared_characters)
  const dictionary = capValues(buildDictionary([`${longest}c`, 'short', `${pairs}😀`]))
  expect([0, 1, 2].map((code) => decodeText(dictionary, code))).toEqual([longest, 'short', pairs])
  expect([`${longest}c`, pairs, `${pairs}😀`].map(isCapped)).toEqual([true, false, true])
})

test.each([
  ['levenshtein', -1],
  ['damerau_levenshtein_part', 0.9],
  ['qgram_jaccard', 0.9],
  ['tfidf_cosine', 0.9],
  ['overlap', 0.9],
] as [MeasureName, number][])('%s sees no difference after the limit, and is not equality', (measure, least) => {
  const compare = (left: string, right: string) => {
    const levels = [{ measure, least, label: 'near', view: undefined }]
    const column = { codes: Int32Array.of(0, 1), dictionary: buildDictionary([left, right]) }
    const comparer = createPairComparer([{ name: 'title', type: 'text', column, levels }])
    return comparer.compare(Int32Array.of(0), Int32Array.of(1), 0, 1).values[0]
  }
  expect(compare(`${longest}${'x'.repeat(500)}`, `${longest}${'y'.repeat(500)}`)).toBe(2)
})
