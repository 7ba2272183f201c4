// Patterns of keys, against their meaning and in bounded time.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { keyMatcher } from './key-pattern.ts'

test.each([
  ['*.csv', ['a.csv', '.csv'], ['a/b.csv', 'a.csvx', 'a.CSV']],
  ['**/*.csv', ['a.csv', 'a/b.csv', 'a/b/c.csv', '/b.csv'], ['a/b', 'csv']],
  ['**', ['', 'a', 'a/b'], []],
  ['2026/**/part-?.json', ['2026/part-1.json', '2026/1/2/part-é.json'], ['2026/part-12.json', '2025/part-1.json']],
  ['a**b', ['ab', 'a/x/b'], ['a', 'ba']],
  ['**/x/**/y', ['x/y', 'a/x/b/y', 'x/x/y'], ['xx/y', 'x/yy', 'ax/y']],
  ['[a]+(b)\\', ['[a]+(b)\\'], ['a', 'ab']],
  ['..', ['..'], ['ab']],
])('%j', (pattern, fitting, others) => {
  const matches = keyMatcher(pattern)
  for (const key of fitting) expect(matches(key), key).toBe(true)
  for (const key of others) expect(matches(key), key).toBe(false)
})

test('a pattern means what the expression that it stands for means', () => {
  const letters = fc.string({ unit: fc.constantFrom('a', 'b', '/'), maxLength: 8 })
  const patterns = fc.string({ unit: fc.constantFrom('a', 'b', '/', '*', '**', '**/', '?'), maxLength: 6 })
  fc.assert(
    fc.property(patterns, letters, (pattern, key) => {
      const parts: Readonly<Record<string, string>> = { '**/': '(?:.*/)?', '**': '.*', '*': '[^/]*', '?': '[^/]' }
      const source = pattern.replace(/\*\*\/|\*\*|\*|\?/g, (part) => parts[part] ?? '')
      expect(keyMatcher(pattern)(key)).toBe(new RegExp(`^${source}$`, 's').test(key))
    }),
  )
})

test('many wildcards over a long key end at once', () => {
  expect(keyMatcher(`${'**a*/'.repeat(51)}b`)('a/'.repeat(512))).toBe(false)
})
