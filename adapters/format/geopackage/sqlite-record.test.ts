// Rows of SQLite that lie about their values: each is refused before anything is reserved for it.
import { expect, test } from 'vitest'
import { DataFault } from '../../../daemon/kernel/data/data-fault.ts'
import { SqliteRecord } from './sqlite-record.ts'

const open = (bytes: Uint8Array) => new SqliteRecord(bytes, (text) => Buffer.from(text).toString('utf8'))
/** A header of a million missing values. */
const manyValues = () => {
  const bytes = new Uint8Array(1_000_000)
  bytes.set([0xbd, 0x84, 0x40])
  return bytes
}

test.each<[what: string, bytes: Uint8Array, fault: string]>([
  ['nothing', new Uint8Array(0), 'a number ends too early'],
  ['a header beyond the end', Uint8Array.from([9, 1]), 'a number ends too early'],
  ['a number of the header without an end', Uint8Array.from([0xff, 0xff]), 'a number ends too early'],
  ['a header longer than any number counts', new Uint8Array(9).fill(0xff), 'a number ends too early'],
  ['a value beyond the end', Uint8Array.from([2, 6, 0, 0]), 'less bytes than its values'],
  ['a text beyond the end', Uint8Array.from([3, 0x87, 0x68, 0x41]), 'less bytes than its values'],
  ['a value of a reserved type', Uint8Array.from([2, 10]), 'of an unknown type'],
  ['a million values', manyValues(), 'too many values'],
])('%s', (_, bytes, fault) => {
  expect(() => open(bytes)).toThrow(DataFault)
  expect(() => open(bytes)).toThrow(fault)
})

test('values are read by their types, and those that are not stored are missing', () => {
  const record = open(Uint8Array.from([6, 0, 8, 9, 1, 15, 0xfe, 0x41]))
  expect(Array.from({ length: record.length + 1 }, (_, at) => record.value(at))).toEqual([
    ...[undefined, 0, 1, -2, 'A', undefined],
  ])
})
