// Figures are never rounded to certainty, and spans have the two largest units.
import { expect, test } from 'vitest'
import {
  chooseSpanUnit,
  formatChange,
  formatFraction,
  formatShare,
  formatSize,
  formatSpan,
  formatTime,
  formatWhole,
} from './format-figures.ts'

test('only 0 and 1 are written as such', () => {
  expect([0, 0.0001, 0.5, 0.9999, 1, null].map(formatFraction)).toEqual([
    '0',
    'under 0.001',
    '0.5',
    'over 0.999',
    '1',
    '–',
  ])
  expect([0, 0.001, 0.5, 0.9999, 1].map(formatShare)).toEqual(['0 %', 'under 1 %', '50 %', '99.9 %', '100 %'])
  expect([0.1, -0.1, 0.0001, -0.0001].map((value) => formatChange(value))).toEqual([
    '+0.100',
    '\u22120.100',
    '0.000',
    '0.000',
  ])
})

test('spans, sizes, counts and instants', () => {
  expect([0, 59, 60, 61, 3_600, 90_061, 86_400].map(formatSpan)).toEqual([
    '0 s',
    '59 s',
    '1 min',
    '1 min 1 s',
    '1 h',
    '1 d 1 h',
    '1 d',
  ])
  expect([10, 200, 9_000, 200_000].map(chooseSpanUnit)).toEqual([1, 60, 3_600, 86_400])
  expect([0, 999, 1_500, 48_000_000].map(formatSize)).toEqual(['0 B', '999 B', '1.5 kB', '48 MB'])
  expect(formatWhole(1_234_567)).toBe('1\u202f234\u202f567')
  expect([formatTime('2026-05-01T12:00:30Z'), formatTime('soon')]).toEqual(['2026-05-01 12:00', 'soon'])
})
