// Different notations have one normalised form.
import { expect, test } from 'vitest'
import {
  normaliseCode,
  normaliseDate,
  normaliseEmail,
  normaliseNumber,
  normaliseWords,
  normaliseYear,
} from './normalise.ts'

test.each([
  ['  O’Neill-Søn, José ', 'o neill søn jose'],
  ['STRASSE 5', 'strasse 5'],
  ['Straße', 'strasse'],
  ['Жуков', 'жуков'],
  ['!?', ''],
])('the words of %j are %j', (text, expected) => {
  expect(normaliseWords(text)).toBe(expected)
})

test.each([
  ['1971-05-04', '19710504'],
  ['19710504', '19710504'],
  ['4.5.1971', '19710504'],
  ['04/05/1971 12:00', '19710504'],
  ['1971-5-4', '19710504'],
  ['1971', '1971'],
  ['unknown', ''],
])('the date %j is %j', (text, expected) => {
  expect(normaliseDate(text)).toBe(expected)
})

test('codes, mail, numbers and years', () => {
  expect(normaliseCode('AB 12-3c')).toBe('ab123c')
  expect(normaliseEmail(' Ann@Example.ORG ')).toBe('ann@example.org')
  expect(['$1,299.00', '0', '-3', 'n/a'].map(normaliseNumber)).toEqual(['1299', '', '', ''])
  expect(normaliseYear('published 1999, again 2004')).toBe('1999')
})
