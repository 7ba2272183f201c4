// The inferred type is the narrowest that every value of the sample has, and loses nothing of any of them.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { buildBlock } from '../../../test/support/data/encode-blocks.ts'
import { parseTyped } from './data-schema.ts'
import { inferSchema } from './infer-schema.ts'

const infer = (...values: readonly (string | null)[]) =>
  inferSchema(
    buildBlock(
      ['v'],
      values.map((value) => [value]),
    ),
  )[0]?.type

test.each<[type: string, values: readonly (string | null)[]]>([
  ['boolean', ['true', 'FALSE', null]],
  ['text', ['true', 'yes']],
  ['text', ['true', '1']],
  ['int64', ['0', '-1', null, '9223372036854775807']],
  ['text', ['9223372036854775808']],
  ['text', ['007']],
  ['text', ['+1']],
  ['text', ['-0']],
  ['text', ['1', '']],
  ['double', ['1', '2.5', '1e-7']],
  ['text', ['0.1234567890123456789']],
  ['text', ['1e999']],
  ['text', ['1e-999']],
  ['text', ['1.23456e-320']],
  ['double', ['5e-324', '0.0']],
  ['text', ['NaN']],
  ['text', ['0x10']],
  ['text', ['1,000']],
  ['date', ['2024-02-29', '0001-01-01']],
  ['text', ['2023-02-29']],
  ['text', ['29.02.2024']],
  ['timestamp', ['2024-02-29T13:00:00Z', '2024-02-29 13:00+02:00', '2024-02-29T13:00:00.123456Z']],
  ['local_timestamp', ['2024-02-29T13:00:00', '2024-02-29 13:00']],
  ['text', ['2024-02-29T13:00:00', '2024-02-29T13:00:00Z']],
  ['timestamp', ['+012024-02-29T13:00:00Z']],
  ['date', ['-000004-02-29', '2024-02-29']],
  ['text', ['-000000-01-01']],
  ['text', ['+002024-02-29']],
  ['double', ['Infinity', '1.5']],
  ['text', ['2024-02-29T13:00:00.1234567Z']],
  ['text', ['2024-02-29T24:00:00Z']],
  ['text', ['2024-02-29', '2024-02-29T13:00:00Z']],
  ['text', []],
  ['text', [null, null]],
])('%s: %j', (type, values) => {
  expect(infer(...values)).toBe(type)
})

test('an inferred type has a value for every text of its sample', () => {
  const text = fc.oneof(
    fc.string({ unit: fc.constantFrom(...'0123456789.-+eE:TZ ') }),
    fc.double().map(String),
    fc.bigInt().map(String),
  )
  fc.assert(
    fc.property(fc.array(text, { maxLength: 5 }), (values) => {
      const type = infer(...values)
      for (const value of values) expect(parseTyped({ type: type ?? 'text' }, value)).toBeDefined()
    }),
    { numRuns: 1_000 },
  )
})

test('times are exact to their unit, before 1970 too', () => {
  const instant = { type: 'timestamp' } as const
  expect(parseTyped(instant, '1969-12-31T23:59:59.999999Z')).toBe(-1n)
  expect(parseTyped(instant, '2024-03-01T01:30:00+05:30')).toBe(parseTyped(instant, '2024-02-29T20:00Z'))
  expect(parseTyped({ type: 'timestamp', unit: 'ns' }, '1970-01-01T00:00:00.000000001Z')).toBe(1n)
  expect(parseTyped({ type: 'timestamp', unit: 'ms' }, '1970-01-01T00:00:00.0001Z')).toBeUndefined()
  expect(parseTyped({ type: 'timestamp', unit: 'ns' }, '9999-12-31T00:00:00Z')).toBeUndefined()
  expect(parseTyped({ type: 'local_timestamp', unit: 'ms' }, '1970-01-02T00:00')).toBe(86_400_000n)
  expect(parseTyped({ type: 'date' }, '1969-12-31')).toBe(-1)
  expect(parseTyped({ type: 'int32' }, '2147483648')).toBeUndefined()
})

test('no time gets an offset that it does not state, and none loses it', () => {
  for (const text of ['1970-01-02', '1970-01-02T00:00:00'])
    expect(parseTyped({ type: 'timestamp' }, text)).toBeUndefined()
  for (const text of ['1970-01-02', '1970-01-02T00:00:00Z', '1970-01-02T00:00:00+00:00'])
    expect(parseTyped({ type: 'local_timestamp' }, text)).toBeUndefined()
})
