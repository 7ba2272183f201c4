// The answers of a batch are those of its own records, also where the arrival is of a process that died under another lens.
import { expect, test } from 'vitest'
import { describeAnswers } from './answer-batch.ts'

const ref = (record_id: string) => ({ ref: { node_id: 'desk', record_id }, values: { name: 'a' } })
const rowOf = (row: number) => ({ row, record: { key: `k${row}`, name: 'a' } })
const item = (row: number, outcome: 'new' | 'joined') => ({ record_id: `k${row}`, outcome })

test('a record that can no longer be read has the answer of its registration, and moves no other answer', () => {
  const rows = [
    { row: rowOf(1), read: 'has no value in any field of the lens' },
    { row: rowOf(2), read: ref('k2') },
  ]
  const { text, outcomes, refused } = describeAnswers(rows, 'key', [item(1, 'joined'), item(2, 'new')])
  const answers = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown)
  expect(answers).toEqual([
    { row: 1, record_id: 'k1', outcome: 'joined' },
    { row: 2, record_id: 'k2', outcome: 'new' },
  ])
  expect([outcomes, refused]).toEqual([{ joined: 1, new: 1 }, []])
})

test('a record that the arrival does not have is left out, also if it can be read now', () => {
  const rows = [
    { row: rowOf(1), read: ref('k1') },
    { row: rowOf(2), read: 'must have an id' },
    { row: rowOf(3), read: ref('k3') },
  ]
  const { text, next_row, refused } = describeAnswers(rows, 'key', [item(3, 'new')])
  expect(
    text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown),
  ).toMatchObject([
    { row: 1, outcome: 'refused' },
    { row: 2, outcome: 'refused', reason: 'must have an id' },
    { row: 3, record_id: 'k3', outcome: 'new' },
  ])
  expect(refused.map(({ row }) => row)).toEqual([1, 2])
  expect(next_row).toBe(4)
})
