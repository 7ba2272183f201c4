// Vectors of n-grams: equal for equal texts, close for close ones, bounded in size and time.
import { expect, test } from 'vitest'
import { cosine } from '../similarity/rules.ts'
import { embedLocally } from './embed-locally.ts'

const similarity = (x: string, y: string) => cosine(embedLocally(x), embedLocally(y)) ?? 0
const hint = 'Call maps/find before maps/show: the id that it returns is needed.'

test('the same text has the same vector, of length 1, whatever its case and punctuation', () => {
  expect(embedLocally(hint)).toHaveLength(512)
  expect(Math.hypot(...embedLocally(hint))).toBeCloseTo(1, 2)
  expect(embedLocally('  CALL maps find; before maps.show the id that it returns is needed')).toEqual(
    embedLocally(hint),
  )
})

test('one word more or less stays above the threshold of similarity, and other texts stay far below it', () => {
  expect(similarity(hint, `Always ${hint.toLowerCase()}`)).toBeGreaterThan(0.9)
  expect(similarity(hint, 'Set the currency before an invoice is sent to a customer abroad.')).toBeLessThan(0.3)
  expect(similarity(hint, 'Do not call maps/show twice: it is slow.')).toBeLessThan(0.6)
})

test('text without letters has no direction', () => {
  expect(embedLocally(' -- ').every((value) => value === 0)).toBe(true)
})

test('other scripts and broken surrogates are text too', () => {
  expect(similarity('地図を検索する前に', '地図を検索する前に')).toBeCloseTo(1, 2)
  expect(embedLocally('\ud800abc')).toHaveLength(512)
})

test('the text is bounded: what is beyond 16,384 characters counts for nothing', () => {
  const long = 'abc def '.repeat(2_048)
  expect(embedLocally(`${long}and more`)).toEqual(embedLocally(long))
})
