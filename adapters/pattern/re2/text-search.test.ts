// Expressions of RE2, and texts that cannot be compiled as one.
import { expect, test } from 'vitest'
import { compileSearch } from './text-search.ts'

test.each<[string, string, boolean]>([
  ['(?i)project\\s+x', 'About PROJECT  X now', true],
  ['(?i)project\\s+x', 'About projects', false],
  ['\\b\\d{4}-\\d{4}\\b', 'id 1234-5678.', true],
  ['^secret$', 'not secret', false],
  ['(a+)+$', `${'a'.repeat(50_000)}b`, false],
  ['é|\\x{1F600}', 'grin 😀', true],
  ['x', '', false],
])('%s in %j', (expression, text, isFound) => {
  const compiled = compileSearch(expression)
  if ('fault' in compiled) throw new Error(compiled.fault)
  expect([compiled.isFoundIn(text), compiled.isFoundIn(text)]).toEqual([isFound, isFound])
})

test.each(['(', '(a)\\1', 'a(?=b)', '[z-a]', 'a{1001}'])('%s is none', (expression) => {
  expect(compileSearch(expression)).toEqual({ fault: expect.stringMatching(/./) })
})
