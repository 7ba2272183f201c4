// The column that names the records: by its name, also with a few repeats; by its values only where all differ.
import { expect, test } from 'vitest'
import { chooseIdColumn, isFurtherId } from './id-column.ts'
import type { ColumnProfile } from './profile.ts'

const profile = (column: string, distinct: number, more: Partial<ColumnProfile> = {}): ColumnProfile => ({
  ...{ column, type: 'code', records: 200, missing: 0, distinct, shortest: 1, longest: 4, samples: [] },
  ...more,
})
const choose = (...profiles: ColumnProfile[]) => chooseIdColumn(profiles, (column) => column === 'phone')

test.each([
  ['a name before an ending', [profile('shop_id', 200), profile('id', 200)], 'id', 0],
  ['an ending before any code', [profile('number', 200), profile('shop_id', 200)], 'shop_id', 0],
  ['a single repeat', [profile('number', 200), profile('id', 199)], 'id', 1],
  ['a few records without an id', [profile('id', 197, { missing: 3 })], 'id', 3],
  ['an ending with a repeat', [profile('name', 120), profile('customer_id', 199)], 'customer_id', 1],
  ['ids that all differ before ids that do not', [profile('id', 199), profile('shop_id', 200)], 'shop_id', 0],
  ['four of two hundred', [profile('id', 196)], 'id', 4],
])('%s: %j', (_, profiles, column, faulty) => {
  expect(choose(...profiles)).toEqual({ column, isNamed: true, faulty })
})

test('a code without such a name counts where each record has another, and describes nothing known', () => {
  expect(choose(profile('phone', 200), profile('number', 200))).toEqual({ column: 'number', isNamed: false, faulty: 0 })
  expect(choose(profile('phone', 200), profile('number', 199))).toBeUndefined()
  expect(choose(profile('title', 200, { type: 'text' }))).toBeUndefined()
})

test('many repeats are what a column describes, whatever its name', () => {
  expect(choose(profile('id', 195))).toBeUndefined()
  expect(choose(profile('id', 2, { records: 4 }))).toBeUndefined()
  expect(isFurtherId(profile('uuid', 199))).toBe(true)
  expect(isFurtherId(profile('uuid', 100))).toBe(false)
  expect(isFurtherId(profile('tax_id', 200))).toBe(false)
})
