// The last line of a list says where its items stand, and how to go on.
import { expect, test } from 'vitest'
import { describeItems } from './print-items.ts'

const items = Array.from({ length: 50 }, () => ({}))

test.each([
  ['50 of 50', { items, total: 50, total_is: 'exact' }],
  ['50 of 213; next page: --cursor abc', { items, total: 213, total_is: 'exact', next_cursor: 'abc' }],
  ['50 of at least 10,000; next page: --cursor x', { items, total: 10_000, total_is: 'at_least', next_cursor: 'x' }],
] as const)('%s', (text, page) => expect(describeItems(page)).toBe(text))
