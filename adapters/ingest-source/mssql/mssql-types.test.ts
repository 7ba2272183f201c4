// How each type of SQL Server is selected, and how its values land.
import { describe, expect, test } from 'vitest'
import { describeValue, findReading, findStatedType, findUsualType } from './mssql-types.ts'

const column = (type_name: string, max_length = 8) => ({ name: 'c', type_name, max_length })
const select = (type_name: string, max_length?: number) => {
  const each = column(type_name, max_length)
  return findReading(each).select('[c]', each)
}

test.each([
  // The library makes floating numbers of these.
  ['decimal', 'CONVERT(nvarchar(50), [c])'],
  ['money', 'CONVERT(nvarchar(50), [c], 2)'],
  // And dates of JavaScript of these, whose smallest unit is the millisecond.
  ['date', 'CONVERT(nvarchar(10), [c], 23)'],
  ['datetime2', 'CONVERT(nvarchar(40), [c], 126)'],
  ['datetimeoffset', 'CONVERT(nvarchar(40), [c], 126)'],
  ['time', 'CONVERT(nvarchar(20), [c], 121)'],
  ['uniqueidentifier', 'CONVERT(nvarchar(36), [c])'],
  ['xml', 'CONVERT(nvarchar(max), [c])'],
  ['geography', 'CONVERT(varbinary(max), [c])'],
  ['hierarchyid', '[c].ToString()'],
  ['timestamp', 'CONVERT(binary(8), [c])'],
  ['bigint', '[c]'],
  ['nvarchar', '[c]'],
])('%s is selected so that nothing of it is lost', (type_name, sql) => {
  expect(select(type_name)).toBe(sql)
})

test('a text of a code page is selected as one of Unicode that has room for all of it', () => {
  expect(select('varchar', 20)).toBe('CONVERT(nvarchar(20), [c])')
  // Each byte of UTF-8 may be a character.
  expect(select('varchar', 8_000)).toBe('CONVERT(nvarchar(max), [c])')
  expect(select('varchar', -1)).toBe('CONVERT(nvarchar(max), [c])')
})

test.each(['sql_variant', 'vector', 'constructor'])('a column of the type %s is refused by its name', (type_name) => {
  expect(() => findReading(column(type_name))).toThrow(
    `the column "c" is of the type "${type_name}", which is not read: name the columns to read`,
  )
})

test('values keep all their digits', () => {
  expect(describeValue('integer', '-9223372036854775808')).toBe('-9223372036854775808')
  expect(describeValue('integer', 2_147_483_647)).toBe('2147483647')
  expect(describeValue('double', 1e300)).toBe('1e+300')
  expect(describeValue('double', -0)).toBe('-0')
  expect(describeValue('float', Math.fround(0.1))).toBe('0.1')
  expect(describeValue('float', Math.fround(16_777_217))).toBe('16777216')
  expect(describeValue('boolean', true)).toBe('true')
  expect(describeValue('bytes', Buffer.from([0, 255]))).toBe('"AP8="')
  expect(describeValue('text', '12.50')).toBe('"12.50"')
  expect(describeValue('text', null)).toBe('null')
})

describe('a value of another kind than its column', () => {
  test.each<[Parameters<typeof describeValue>[0], unknown]>([
    ['integer', 1.5],
    ['integer', true],
    ['double', '1'],
    ['boolean', 1],
    ['text', 7],
    ['text', new Date(0)],
    ['bytes', 'AP8='],
    ['float', undefined],
  ])('is not one of SQL Server: %s', (form, value) => {
    expect(() => describeValue(form, value)).toThrow('does not answer as a server of SQL Server does')
  })
})

test('types that hold every value are stated, and others are those of most values', () => {
  const typesOf = (type_name: string) => [
    findStatedType(column(type_name))?.type,
    findUsualType(column(type_name)).type,
  ]
  expect(typesOf('bigint')).toEqual(['int64', 'int64'])
  expect(typesOf('bit')).toEqual(['boolean', 'boolean'])
  expect(typesOf('decimal')).toEqual(['text', 'text'])
  expect(typesOf('float')).toEqual([undefined, 'double'])
  expect(typesOf('datetime2')).toEqual([undefined, 'local_timestamp'])
  expect(typesOf('datetimeoffset')).toEqual(['text', 'text'])
})
