// The digest in steps is that of the canonical form, and no step of a long list is long.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runToEnd } from '../role/run-to-end.ts'
import { canonicalDigest } from './canonical-json.ts'
import { digestCanonically } from './digest-canonically.ts'

test('it is the digest of the canonical form', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
      expect(runToEnd(digestCanonically(value))).toBe(canonicalDigest(value))
    }),
  )
})

test.each([
  ['no member', {}],
  ['no item', []],
  ['an empty list', { list: [], nested: { list: [] } }],
  ['a member without a value', { b: undefined, a: 1, c: undefined }],
  ['members in another order', { b: { d: 1, c: [{ z: 1, a: 2 }] }, a: null }],
])('it is the same for %s', (_, value) => {
  expect(runToEnd(digestCanonically(value))).toBe(canonicalDigest(value))
})

test('each item of a list in an object is at least one step', () => {
  expect([...digestCanonically({ record: { list: Array(1_000).fill('item') } })].length).toBeGreaterThan(1_000)
})
