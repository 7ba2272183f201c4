// The share of their values that two records show, relative to the median record of the data.
import { expect, test } from 'vitest'
import { lens as schema } from '../../lens/model.ts'
import { buildTextColumn } from '../records/collect-columns.ts'
import { buildRecords } from '../records/records.ts'
import { createComparedShare } from './compared-share.ts'

const names = ['given_name', 'surname', 'city', 'email', 'phone']
const lens = schema.parse({
  ...{ lens: 'test', version: '1.0.0', entity_type: 'person', blocking: 'automatic' },
  fields: names.map((name) => ({ name, type: 'name', optional: true })),
})

/** Each record by the fields that have a value: `x` or `-`. The last column is empty in all of them. */
function shareOf(records: readonly string[]) {
  const columns = names.map((name, at) =>
    buildTextColumn(
      name,
      records.map((row) => (row[at] === 'x' ? 'some' : '')),
    ),
  )
  const ids = buildTextColumn(
    'id',
    records.map((_, row) => `${row + 1}`),
  )
  const source = { name: 'a.csv', rows: records.length, names: ['id', ...names], columns: [ids, ...columns] }
  return createComparedShare(buildRecords(lens, [source]))
}

test('is the share of the values of the median record that both have, and at most all', () => {
  const share = shareOf(['xxxx-', 'xxx--', 'xx-x-', 'x----', 'xxxx-'])
  expect(share(0, 4)).toBe(1)
  expect(share(1, 2)).toBeCloseTo(2 / 3)
  expect(share(0, 3)).toBeCloseTo(1 / 3)
})

test('is all where the data has one field, and none where no value is shared', () => {
  expect(shareOf(['x----', 'x----', 'x----'])(0, 1)).toBe(1)
  expect(shareOf(['x----', '-x---', 'xx---'])(0, 1)).toBe(0)
})
