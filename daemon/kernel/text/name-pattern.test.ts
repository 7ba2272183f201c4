// Names with `*`, beside the expressions that mean the same.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { matchesPattern } from './name-pattern.ts'

test('a name pattern is what an expression with .* is', () => {
  const letters = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 12 })
  const name = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 12 })
  fc.assert(
    fc.property(letters, name, (pattern, text) => {
      const expected = new RegExp(`^${pattern.replaceAll('*', '.*')}$`).test(text)
      expect(matchesPattern(pattern, text)).toBe(expected)
    }),
    { numRuns: 2_000 },
  )
})
