// A run of 32 characters that stands in the source is found at any place; shorter ones are names.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { repeatsSource } from './repeats-source.ts'

const source = 'Dr. Mara Jansen\n asked for   the minutes of the secret meeting on 4 May.'

test('a sentence of a person is found, whatever its case and spaces', () => {
  expect(repeatsSource('advice: ask FOR THE MINUTES of the secret meeting', source)).toBe(true)
  expect(repeatsSource('the minutes of a meeting need a date', source)).toBe(false)
  expect(repeatsSource('records/export', 'records/export')).toBe(false)
})

test('every run of 32 characters is found', () => {
  const letters = fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'd', 'e'), minLength: 32, maxLength: 32 })
  const before = fc.string({ unit: fc.constantFrom('x', 'y'), maxLength: 20 })
  fc.assert(
    fc.property(letters, before, before, (run, left, right) => {
      expect(repeatsSource(`${left}${run}${right}`, `--${run}--`)).toBe(true)
    }),
  )
})
