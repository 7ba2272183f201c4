// Parses the lists of OTEL_* variables, valid and invalid.
import { expect, test } from 'vitest'
import { parseNameValues } from './name-values.ts'

test.each([
  ['', {}],
  ['a=1', { a: '1' }],
  ['a=1,b=2', { a: '1', b: '2' }],
  [' a = 1 , b=2,', { a: '1', b: '2' }],
  ['a=', { a: '' }],
  ['authorization=Basic%20YTpi%3D', { authorization: 'Basic YTpi=' }],
  ['a=b=c', { a: 'b=c' }],
  ['a=1,a=2', { a: '2' }],
])('"%s" is a list', (text, expected) => {
  expect(parseNameValues(text)).toEqual(expected)
})

test.each(['a', '=1', 'a=1,b', 'a=%', 'a=%zz', '__proto__=1', 'a b=1'])('"%s" is not a list', (text) => {
  expect(parseNameValues(text)).toBeUndefined()
})
