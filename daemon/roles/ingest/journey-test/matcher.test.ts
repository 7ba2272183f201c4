// Matchers of values, paths to them, and what a log shows of a mismatch.
import { expect, test } from 'vitest'
import type { JsonValue } from './key-path.ts'
import { readKeyPath } from './key-path.ts'
import { findMismatch, matchesPattern, type ResponseTest } from './matcher.ts'

const body: JsonValue = {
  items: [{ id: 7, name: 'Ann', tags: ['a', { b: 1 }] }, { id: 8 }],
  'a.b/c~d': null,
  counts: { x: 1, y: 2 },
  auth: { token: 'abc' },
}

test.each([
  ['', body],
  ['items.0.id', 7],
  ['/items/1/id', 8],
  ['/a.b~1c~0d', null],
  ['items.2', undefined],
  ['items.01', undefined],
  ['items.length', undefined],
  ['items.0.name.length', undefined],
  ['constructor', undefined],
  ['counts.toString', undefined],
])('the value at "%s" is %j', (path, value) => expect(readKeyPath(body, path)).toEqual(value))

test.each<[ResponseTest]>([
  [{ path: 'items.0.id', equals: 7, not_equals: 8, at_least: 7, at_most: 7 }],
  [{ path: 'counts', equals: { y: 2, x: 1 }, count: 2 }],
  [{ path: 'items', count: 2, exists: true }],
  [{ path: 'items.0.tags', contains: { b: 1 } }],
  [{ path: 'items.0.name', contains: 'nn', matches: 'A*n' }],
  [{ path: '/a.b~1c~0d', exists: true, equals: null }],
  [{ path: 'nothing', exists: false, not_equals: 1 }],
])('%j holds', (holding) => expect(findMismatch(body, holding)).toBeUndefined())

test.each<[ResponseTest, string, string]>([
  [{ path: 'items.0.id', equals: '7' }, 'equals "7"', '7'],
  [{ path: 'items.0.id', not_equals: 7 }, 'not_equals 7', '7'],
  [{ path: 'nothing', exists: true }, 'exists true', 'no value'],
  [{ path: 'items.0.id', contains: 7 }, 'contains 7', '7'],
  [{ path: 'items.0.id', matches: '*' }, 'matches "*"', '7'],
  [{ path: 'items', count: 3 }, 'count 3', '2'],
  [{ path: 'items.0.id', count: 1 }, 'count 1', 'no list and no object'],
  [{ path: 'items.0.name', at_least: 0 }, 'at_least 0', '"Ann"'],
  [{ path: 'auth.token', equals: 'x' }, 'equals a value that is not shown', 'a value that is not shown'],
  [{ path: 'auth', equals: 1 }, 'equals 1', '{"token":"(not shown)"}'],
])('%j does not hold', (failing, expected, found) => {
  expect(findMismatch(body, failing)).toEqual({ path: failing.path, expected, found })
})

test('a long value is shortened, and a body that is not JSON has no value', () => {
  expect(findMismatch('x'.repeat(10_000), { path: '', equals: 1 })?.found).toHaveLength(201)
  expect(findMismatch(undefined, { path: '', exists: true })).toMatchObject({ found: 'no value' })
})

test.each([
  ['sig_12', 'sig_*', true],
  ['sig_12', 'sig_??', true],
  ['sig_12', '*', true],
  ['sig_12', 'sig_?', false],
  ['sig_12', '*_1', false],
  ['abcabd', '*abd', true],
  ['', '*', true],
  ['', '?', false],
  ['a.c', 'a?c', true],
  ['abc', 'a.c', false],
])('%j matches %j: %j', (text, pattern, isMatch) => expect(matchesPattern(text, pattern)).toBe(isMatch))

test('a pattern of many stars ends, on a text that it almost matches', () => {
  expect(matchesPattern('a'.repeat(65_536), `${'*a'.repeat(120)}*b`)).toBe(false)
})
