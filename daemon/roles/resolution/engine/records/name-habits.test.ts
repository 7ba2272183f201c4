// A column of names gets the options that some of its values need, and no other column does.
import { expect, test } from 'vitest'
import { findNameHabits } from './name-habits.ts'

const plain = Array.from({ length: 95 }, (_, at) => `Green${at}`)

test.each([
  ['plain names', [], {}],
  ['names with particles', ['van der Berg', "O'Brien", 'al-Hasan'], { particles: true }],
  ['one particle among many names', ['van der Berg'], {}],
  ['names without vowels', ['محمد', 'דוד'], { phonetics: ['metaphone', 'consonants'] }],
  ['names of Greece and Russia', ['Γιώργος', 'Иван'], {}],
  ['given names of two words', ['Anna Maria', 'Jean Paul', 'Mary Ann'], {}],
])('%s', (_, names, habits) => {
  expect(findNameHabits([...plain, ...names])).toEqual(habits)
})
