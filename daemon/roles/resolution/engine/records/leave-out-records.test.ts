// Records that are left out of a source leave no value in it.
import { expect, test } from 'vitest'
import { buildTextColumn } from './collect-columns.ts'
import { leaveOutRecords } from './leave-out-records.ts'
import type { RecordSource } from './records.ts'

const source: RecordSource = {
  name: 'east',
  rows: 4,
  names: ['id', 'surname', 'city'],
  columns: [
    buildTextColumn('id', ['a', 'b', 'c', 'd']),
    buildTextColumn('surname', ['adams', 'brown', 'adams', '']),
    buildTextColumn('city', ['', 'leeds', 'york', 'leeds']),
  ],
}

function readRows({ rows, columns }: RecordSource): string[][] {
  const decoder = new TextDecoder()
  return Array.from({ length: rows }, (_, row) =>
    columns.map(({ codes, values }) => {
      const code = codes[row] ?? -1
      return code < 0 ? '' : decoder.decode(values.bytesOf(code))
    }),
  )
}

function readBytes({ columns }: RecordSource): string {
  return columns.map(({ values }) => new TextDecoder().decode(values.all.bytes)).join(' ')
}

test('the others keep their order and values, and values of the others alone stay', () => {
  const { source: rest, left_out } = leaveOutRecords(source, 'id', new Set(['b', 'c', 'nobody']))
  expect(left_out).toEqual(['b', 'c'])
  expect(readRows(rest)).toEqual([
    ['a', 'adams', ''],
    ['d', '', 'leeds'],
  ])
  expect(readBytes(rest)).toBe('ad adams leeds')
  expect(rest).toMatchObject({ name: 'east', rows: 2, names: source.names })
})

test('a source without one of the records is the same', () => {
  expect(leaveOutRecords(source, 'id', new Set(['nobody'])).source).toBe(source)
  expect(leaveOutRecords(source, 'number', new Set(['a'])).source).toBe(source)
  expect(leaveOutRecords(source, 'id', new Set()).left_out).toEqual([])
})

test('all of them may be left out', () => {
  const { source: rest } = leaveOutRecords(source, 'id', new Set(['a', 'b', 'c', 'd']))
  expect(readRows(rest)).toEqual([])
  expect(readBytes(rest).trim()).toBe('')
})
